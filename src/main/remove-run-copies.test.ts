import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { RunPhase } from '../api/kruntimes.io/v1alpha1/run.ts';
import { PLACED_FROM_LABEL } from '../api/tenantry.dev/v1alpha1/cluster-names.ts';
import { openStore } from '../engine/store/durable-store.ts';
import { removeRunCopies } from './remove-run-copies.ts';
import { sealingWith } from './sealing.ts';

const sealing = sealingWith([{ id: 'a', key: Buffer.alloc(32, 1) }]);
let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'tenantry-copies-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function aRun(phase: RunPhase | undefined, labels?: Record<string, string>): Buffer {
  return Buffer.from(JSON.stringify({ metadata: { labels }, spec: {}, ...(phase && { status: { phase } }) }));
}

it('of a restored store copies of Runs that had not ended are removed, however many, and nothing else', async () => {
  const copied = { [PLACED_FROM_LABEL]: 'acme' };
  const objects: Record<string, Buffer> = {
    'core/secrets/default/word': Buffer.from('mellon'),
    'kruntimes.io/runs/acme/ended': aRun('Succeeded', copied),
    'kruntimes.io/runs/acme/own': aRun('Pending'),
    'kruntimes.io/runs/acme/scheduled': aRun('Scheduled', copied),
    'kruntimes.io/runtimes/acme/bash': aRun(undefined, copied),
  };
  for (let n = 0; n < 250; n++) objects[`kruntimes.io/runs/acme/fresh-${n}`] = aRun(undefined, copied);
  const before = await openStore(folder, { sealing });
  await Promise.all(Object.entries(objects).map(([key, bytes]) => before.put(key, 0, () => ({ bytes }))));
  await before.close();
  expect(await removeRunCopies(folder, { sealing })).toBe(251);
  const after = await openStore(folder, { sealing });
  expect(after.range('').entries.map(({ key }) => key)).toEqual([
    'core/secrets/default/word',
    'kruntimes.io/runs/acme/ended',
    'kruntimes.io/runs/acme/own',
    'kruntimes.io/runtimes/acme/bash',
  ]);
  await after.close();
});
