import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Cgroups } from '../cgroups/cgroups.ts';
import { removeOrphans } from './clean-up.ts';
import { containerPlaces } from './container-places.ts';

let dir: string;
let done: string[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'clean-up-'));
  done = [];
});
afterEach(() => rmSync(dir, { recursive: true }));

async function cleanUp(
  live: string[],
  found: { known?: string[]; containers?: string[]; state?: string[]; pods?: string[]; cgroups?: string[] },
): Promise<string[]> {
  for (const kind of ['containers', 'state', 'pods'] as const)
    for (const name of found[kind] ?? []) mkdirSync(join(dir, kind, name), { recursive: true });
  await removeOrphans({
    places: containerPlaces(dir),
    cgroups: {
      children: async () => found.cgroups ?? [],
      remove: async () => void done.push('all'),
    } as unknown as Cgroups,
    livePodUids: new Set(live),
    knownToShim: new Set(found.known ?? []),
    removeContainer: async (id) => void done.push(`container ${id}`),
    removeSandbox: async (uid) => void done.push(`sandbox ${uid}`),
  });
  return done;
}

test('removeOrphans leaves running containers of living Pods alone', async () => {
  expect(
    await cleanUp(['u1'], { known: ['u1.web.0'], containers: ['u1.web.0'], state: ['u1.web.0'], pods: ['u1'], cgroups: ['podu1'] }),
  ).toEqual([]);
});

test.each([
  ['the shim knows them', { known: ['u2.web.0'] }, ['container u2.web.0']],
  ['only their folder is left', { containers: ['u2.web.0'] }, ['container u2.web.0']],
  ['only the runtime’s record is left', { state: ['u2.web.0'] }, ['container u2.web.0']],
  ['only the folder of their Pod is left', { pods: ['u2'] }, ['sandbox u2']],
  ['only a cgroup is left', { cgroups: ['podu2'] }, ['sandbox u2']],
])('removeOrphans removes what is left of Pods that are gone, when %s', async (_, found, expected) => {
  expect(await cleanUp(['u1'], found)).toEqual(expected);
});

test('removeOrphans removes a container of a living Pod, when the shim does not know it', async () => {
  expect(await cleanUp(['u1'], { containers: ['u1.web.0'], state: ['u1.web.0'] })).toEqual(['container u1.web.0']);
});

test('removeOrphans removes the cgroup of all Pods, when none lives', async () => {
  expect(await cleanUp([], { pods: ['u1'] })).toEqual(['sandbox u1', 'all']);
});

test('removeOrphans leaves alone what is not a container', async () => {
  expect(await cleanUp(['u1'], { containers: ['notes'] })).toEqual([]);
});
