import { createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { restoreStore } from '../engine/store/restore.ts';

/** Fills an empty data directory from a backup. Certificates and keys are made anew by the next `up`. */
export async function restore(options: { file: string; data: string }): Promise<void> {
  if (!existsSync(options.file)) throw new Error(`Cannot restore "${options.file}": there is no such file; name a backup`);
  const restored = await restoreStore(join(options.data, 'store'), createReadStream(options.file));
  console.log(`Restored ${restored.keys} objects into ${options.data}; revisions go on after ${restored.revision}.`);
  console.log(`Start it with: tenantry up --data ${options.data}`);
}
