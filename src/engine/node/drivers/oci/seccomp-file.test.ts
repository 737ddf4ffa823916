import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SecuritySpec } from '../driver.ts';
import { localSeccompProfile } from './seccomp-file.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'seccomp-'));
  writeFileSync(join(folder, 'audit.json'), '{"defaultAction":"SCMP_ACT_LOG"}');
  writeFileSync(join(folder, 'broken.json'), '{');
  writeFileSync(join(folder, 'empty.json'), '{}');
});
afterAll(() => rmSync(folder, { recursive: true }));

const load = (profile: string): ReturnType<typeof localSeccompProfile> =>
  localSeccompProfile({ seccomp: { type: 'Localhost', profile } } as SecuritySpec, folder);

test('localSeccompProfile is the file’s content', async () => {
  expect(await load('audit.json')).toEqual({ defaultAction: 'SCMP_ACT_LOG' });
});

test('localSeccompProfile is none, when the container does not name one', async () => {
  expect(await localSeccompProfile({ seccomp: { type: 'RuntimeDefault' } } as SecuritySpec, folder)).toBeUndefined();
});

test.each([
  ['it is not there', 'absent.json', 'no such file or directory'],
  ['it is elsewhere', '../audit.json', 'outside the folder'],
  ['it is not JSON', 'broken.json', 'decoding seccomp profile failed'],
  ['it filters nothing', 'empty.json', 'no defaultAction'],
])('localSeccompProfile refuses a profile, when %s', async (_, profile, message) => {
  await expect(load(profile)).rejects.toMatchObject({ reason: 'CreateContainerError', message: expect.stringContaining(message) });
});
