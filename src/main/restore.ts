import { createReadStream, existsSync } from 'node:fs';
import { restoreArchive } from './backup-archive.ts';
import { prepareDataDirectory } from './start-failure.ts';

/** Fills an empty data directory from a backup: objects, certificates and keys. */
export async function restore(options: { file: string; data: string }): Promise<void> {
  if (!existsSync(options.file)) throw new Error(`Cannot restore "${options.file}": there is no such file; name a backup`);
  await prepareDataDirectory(options.data);
  const restored = await restoreArchive(options.data, createReadStream(options.file));
  console.log(`Restored ${restored.keys} objects into ${options.data}; revisions go on after ${restored.revision}.`);
  console.log(`Start it with: tenantry up --data ${options.data}`);
}
