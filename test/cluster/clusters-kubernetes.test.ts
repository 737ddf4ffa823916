import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { findPrograms } from '../../src/areas/clusters/control-plane/kubernetes/find-programs.ts';
import {
  KubernetesControlPlanes,
  openKubernetesPlanes,
} from '../../src/areas/clusters/control-plane/kubernetes/kubernetes-control-planes.ts';
import { BESIDE_THE_DATA, ensureKubernetesKeys } from '../../src/areas/clusters/control-plane/kubernetes/kubernetes-keys.ts';
import type { ClusterRecord } from '../../src/areas/clusters/control-plane/process/cluster-folder.ts';
import { realClock } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { controlPlaneConformance } from '../conformance/control-plane/control-plane.suite.ts';
import { controlPlanePrograms, KUBERNETES_VERSION } from './binaries.ts';

const DAY_MS = 24 * 3600 * 1000;
const programs = await controlPlanePrograms();
afterAll(() => rmSync(programs, { recursive: true, force: true }));
const { sets } = await findPrograms(programs, process.env['PATH']!);

const recordOf = (root: string, id: string) => JSON.parse(readFileSync(join(root, 'records', `${id}.json`), 'utf8')) as ClusterRecord;
/** The process that looks after the programs comes first. */
function processesOf(root: string, id: string): number[] {
  const { pid } = recordOf(root, id).process!;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  return [pid, ...children];
}
const nameOf = (pid: number) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim();

/** As root, as an operator runs it. */
if (process.getuid?.() !== 0) throw new Error('Cannot test control planes with networks of their own: this is not root; run it as root');

controlPlaneConformance('kubernetes', {
  open: (root, clock) =>
    openKubernetesPlanes({
      root,
      program: resolve('dist/kubernetes-control-plane.js'),
      productVersion: '0.0.0-test',
      address: '127.0.0.1',
      sets,
      clock,
      log: silentLog,
    }),
  processesOf,
  steadyProcessesOf: (root, id) => processesOf(root, id).filter((pid) => nameOf(pid) !== 'proxy-server'),
  async makeKeys(root, wanted, daysAgo) {
    const { port } = recordOf(root, wanted.id);
    const needs = { ...BESIDE_THE_DATA, addresses: ['127.0.0.1'], server: `https://127.0.0.1:${port}` };
    await ensureKubernetesKeys(join(root, wanted.id, 'pki'), wanted, needs, { now: () => Date.now() - daysAgo * DAY_MS });
  },
  authorities: { ca: 'tenantry-ca', 'front-proxy-ca': 'tenantry-front-proxy-ca', 'etcd-ca': 'tenantry-etcd-ca' },
  version: KUBERNETES_VERSION,
});

it('without a network of its own a control plane is on loopback, and says that it shares the machine', { timeout: 120_000 }, async () => {
  const root = mkdtempSync(join(tmpdir(), 'tenantry-planes-'));
  const network = 'nobody makes one';
  const program = resolve('dist/kubernetes-control-plane.js');
  const options = { root, program, productVersion: 'x', address: '127.0.0.1', sets, network, clock: realClock, log: silentLog };
  const planes = new KubernetesControlPlanes(options);
  const wanted = { id: randomUUID(), namespace: 'acme', name: 'dev', version: KUBERNETES_VERSION, names: [], accessRevision: 0 };
  try {
    const running = await planes.run(wanted);
    expect(running.endpoint).toMatch(/^https:\/\/127\.0\.0\.1:/);
    expect(running.sharedUser).toBe('its programs share the network of this machine: nobody makes one');
    await expect(planes.run({ ...wanted, version: '1.34.0' })).rejects.toMatchObject({ reason: 'NoProvider' });
    const { certificatePem: cert, keyPem: key } = running.platform;
    const status = await new Promise((done, failed) => {
      const keys = { ca: running.authorityPem, cert, key };
      request(`${running.endpoint}/readyz`, keys, (response) => done(response.resume().statusCode))
        .once('error', failed)
        .end();
    });
    expect(status).toBe(200);
  } finally {
    await planes.remove(wanted.id);
    await planes.close();
    rmSync(root, { recursive: true, force: true });
  }
});
