import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findPrograms } from './find-programs.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-programs-'));
  put(join(folder, 'machine'), { setpriv: '' });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(place: string, programs: Record<string, string>): void {
  mkdirSync(place, { recursive: true });
  for (const [name, version] of Object.entries(programs)) {
    writeFileSync(join(place, name), `#!/bin/sh\necho "${version}"\n`);
    chmodSync(join(place, name), 0o755);
  }
}
const kubernetes = (version: string) => ({
  'kube-apiserver': `Kubernetes v${version}`,
  'kube-controller-manager': `Kubernetes v${version}`,
  'kube-scheduler': `Kubernetes v${version}`,
});
const OTHERS = { etcd: '', etcdutl: '', 'proxy-server': '' };
const machine = () => join(folder, 'machine');

it('findPrograms says what is missing', async () => {
  put(join(folder, 'programs'), { etcd: '', ...kubernetes('1.35.4') });
  expect(await findPrograms(join(folder, 'programs'), machine())).toEqual({
    sets: [],
    missing: `there is no etcdutl, proxy-server in "${join(folder, 'programs')}"`,
  });
});

it('findPrograms finds versions in folders of the folder, the newest first, with what they share above them', async () => {
  put(join(folder, 'programs'), { ...OTHERS, ...kubernetes('1.35.4') });
  put(join(folder, 'programs', 'next'), kubernetes('1.36.1'));
  const { sets } = await findPrograms(join(folder, 'programs'), machine());
  expect(sets.map(({ version }) => version)).toEqual(['1.36.1', '1.35.4']);
  expect(sets[0].paths['kube-apiserver']).toContain('next');
  expect(sets[0].paths['etcd']).toBe(sets[1].paths['etcd']);
});

it('findPrograms takes no set of mixed versions', async () => {
  put(join(folder, 'programs'), { ...OTHERS, ...kubernetes('1.35.4'), 'kube-scheduler': 'Kubernetes v1.34.0' });
  const { missing } = await findPrograms(join(folder, 'programs'), machine());
  expect(missing).toContain('the programs are of different versions (1.35.4, 1.34.0)');
});

it('findPrograms looks on the search path when no folder is named', async () => {
  expect((await findPrograms(undefined, machine())).missing).toContain('there is no etcd');
  put(machine(), { ...OTHERS, ...kubernetes('1.35.4') });
  expect((await findPrograms(undefined, machine())).sets).toHaveLength(1);
});
