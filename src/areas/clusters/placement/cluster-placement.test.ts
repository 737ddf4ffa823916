import { afterEach, expect, it } from 'vitest';
import { FakeApi } from '../../../../test/support/fake-api.ts';
import { PLACED_FROM_LABEL, PLACEMENT_FINALIZER } from '../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import { TENANT_LABEL } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import { createClient } from '../../../client/client.ts';
import { createInMemoryTransport } from '../../../client/in-memory/in-memory-transport.ts';
import type { InMemoryHandler } from '../../../client/transport.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { failure } from '../../../kube/status.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { realClock, type Clock } from '../../../lib/clock.ts';
import { silentLog } from '../../../lib/log.ts';
import { ClusterPlacement } from './cluster-placement.ts';

let placement: ClusterPlacement;
afterEach(() => placement.stop());

function aRun(metadata: object, status: object): KubeObject {
  const spec = { runtime: 'bash', mode: {} };
  return { apiVersion: 'kruntimes.io/v1alpha1', kind: 'Run', metadata: { name: 'build', namespace: 'victim', ...metadata }, spec, status };
}

/** That of tenant "acme", on a host with a tenant "victim". @param taken Runs of the host that say they are in the cluster of acme */
function placed(taken: KubeObject[]) {
  const [host, inside, takenOnes] = [new FakeApi(), new FakeApi(), new FakeApi()];
  for (const run of taken) takenOnes.put(run, 'runs');
  host.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'victim', labels: { [TENANT_LABEL]: 'victim' } } }, 'namespaces');
  const onHost: InMemoryHandler = (request) =>
    String(request.query?.fieldSelector).includes('status.placedIn=acme') ? takenOnes.handler(request) : host.handler(request);
  const [hostClient, tenantClient] = [onHost, inside.handler].map((handler) => createClient(createInMemoryTransport(handler)));
  const start = (clock: Clock = realClock) => {
    const options = { tenant: 'acme', cluster: 'acme', clock, log: silentLog, onChange: () => {} };
    placement = new ClusterPlacement({ ...options, hostClient, tenantClient });
    return placement;
  };
  return { host, inside, start };
}

it("a copy that administrators of a cluster made with the name of another tenant's Run, leads to nothing but its own end", async () => {
  const { host, inside, start } = placed([]);
  const before = host.put(aRun({ finalizers: [PLACEMENT_FINALIZER] }, { phase: 'Running', placedIn: 'victim' }), 'runs');
  inside.put(aRun({ labels: { [PLACED_FROM_LABEL]: 'acme' } }, {}), 'runs');
  start();
  await expect.poll(() => inside.get('runs', 'victim', 'build'), { timeout: 10_000 }).toBeUndefined();
  // It was looked at once more when it was gone.
  const asked = () => host.requests.filter(({ path }) => path.endsWith('/namespaces/victim')).length;
  await expect.poll(asked, { timeout: 10_000 }).toBeGreaterThan(1);
  await placement.stop();
  expect(host.get('runs', 'victim', 'build')).toEqual(before);
});

it('a Run of another tenant that says it is in the cluster, holds up nobody', async () => {
  const going = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.com/stays'] };
  const { start } = placed([aRun(going, { phase: 'Running', placedIn: 'acme' })]);
  start();
  await expect.poll(() => placement.state(), { timeout: 10_000 }).toEqual({ phase: 'Empty', left: 0 });
});

/** A Run of acme with a Secret. */
function withSecret() {
  const env = [{ name: 'P', valueFrom: { secretKeyRef: { name: 'db', key: 'p' } } }];
  const run = aRun({ namespace: 'acme', uid: '1', finalizers: [PLACEMENT_FINALIZER] }, { phase: 'Pending', placedIn: 'acme' });
  const world = placed([{ ...run, spec: { ...run.spec, env } }]);
  const { host } = world;
  host.put({ ...run, spec: { ...run.spec, env } }, 'runs');
  host.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'acme', labels: { [TENANT_LABEL]: 'acme' } } }, 'namespaces');
  host.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db', namespace: 'acme', uid: '2' }, data: { p: 'cw==' } }, 'secrets');
  return world;
}

it('a Run begins in the cluster when the Secrets that it names are there, as they are on the host', async () => {
  const { inside, start } = withSecret();
  const done: string[] = [];
  inside.intercept = ({ method, path }) => {
    const isSecret = method === 'PATCH' && path.endsWith('/secrets/db');
    // The cluster is slow to take it.
    if (isSecret && done.push('secret') < 4) throw failure('Conflict', 'busy');
    if (method === 'POST' && path.endsWith('/runs')) done.push('run');
  };
  start();
  placement.setNamespaces(['acme']);
  await expect.poll(() => done, { timeout: 20_000 }).toContain('run');
  expect(done.slice(0, 5)).toEqual(['secret', 'secret', 'secret', 'secret', 'run']);
});

it('a Run whose Secret the cluster refuses asks the host for nothing, and is looked at ever less often', async () => {
  const { host, inside, start } = withSecret();
  inside.intercept = ({ method, path }) => {
    if (method === 'PATCH' && path.endsWith('/secrets/db')) throw failure('Forbidden', 'no Secrets here');
  };
  const clock = new FakeClock();
  start(clock);
  placement.setNamespaces(['acme']);
  const refused = () => inside.requests.filter(({ method, path }) => method === 'PATCH' && path.endsWith('/secrets/db')).length;
  await expect.poll(async () => (await clock.advance(500), refused()), { timeout: 20_000 }).toBeGreaterThan(2);
  const asked = () =>
    host.requests.filter(({ path, query }) => query?.watch !== 'true' && /\/(runs|secrets)\//.test(path)).map(({ path }) => path);
  const before = asked().length;
  const timers = clock.setTimer.bind(clock);
  const waits: number[] = [];
  clock.setTimer = (ms, run) => (waits.push(ms), timers(ms, run));
  for (let second = 0; second < 300; second++) await clock.advance(1_000);
  expect(asked().slice(before)).toEqual([]);
  expect(waits).toContain(30_000);
});
