import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { realClock } from '../../../lib/clock.ts';
import { silentLog } from '../../../lib/log.ts';
import type { RunningControlPlane } from '../control-plane/control-planes.ts';
import { ClusterPlacement } from '../placement/cluster-placement.ts';
import { TenantConnections } from './tenant-connections.ts';

/** Takes connections and never says a word, as an address does that packets to are lost. */
let silent: Server;
const sockets = new Set<Socket>();

beforeAll(async () => {
  silent = createServer((socket) => void sockets.add(socket.on('error', () => {}))).listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
});

afterAll(() => {
  for (const socket of sockets) socket.destroy();
  silent.close();
});

function unreachable(): RunningControlPlane {
  const pair = { certificatePem: '', keyPem: '' };
  const endpoint = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  return {
    endpoint,
    authorityPem: '',
    owner: pair,
    ownerGroup: 'owners',
    platform: pair,
    certificatesExpire: 0,
    replicas: { wanted: 1, ready: 1 },
  };
}

it('everything that waits for a control plane that does not answer, ends, when connections are stopped', { timeout: 10_000 }, async () => {
  const connections = new TenantConnections(() => {});
  const connection = await connections.open('a', unreachable());
  const { tenantClient } = connection;
  const quota = { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'limits', namespace: 'default' } };
  const options = { tenant: 'acme', cluster: 'acme', clock: realClock, log: silentLog, onChange: () => {} };
  const placement = new ClusterPlacement({ ...options, hostClient: tenantClient, tenantClient });
  placement.setNamespaces(['acme']);
  const waiting = [connection.namespaces(), connection.apply(quota), connection.balancers().inside()];
  await expect.poll(() => sockets.size).toBeGreaterThan(0);
  const [, , ...outcomes] = await Promise.all([connections.stop(), placement.stop(), ...waiting.map((each) => each.catch(String))]);
  expect(outcomes).toEqual([expect.stringMatching(/abort/), expect.stringMatching(/abort/), expect.stringMatching(/abort/)]);
  await expect(connections.open('a', unreachable())).rejects.toThrow('the connections into clusters are closed');
});
