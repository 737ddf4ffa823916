import { expect, it } from 'vitest';
import { FakeApi } from '../../../../test/support/fake-api.ts';
import { PLACEMENT_FINALIZER } from '../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import { OWNED_BY_TENANT, TENANT_LABEL } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import { createClient } from '../../../client/client.ts';
import { createInMemoryTransport } from '../../../client/in-memory/in-memory-transport.ts';
import { realClock } from '../../../lib/clock.ts';
import { silentLog } from '../../../lib/log.ts';
import { MetricsRegistry } from '../../../lib/metrics.ts';
import { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { Placements } from './placements.ts';

it('release gives back the Runs of its tenant, and leaves those of others alone that say they are in the cluster', async () => {
  const host = new FakeApi();
  for (const tenant of ['acme', 'liar']) {
    host.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: tenant, labels: { [TENANT_LABEL]: tenant } } }, 'namespaces');
    const metadata = { name: 'build', namespace: tenant, finalizers: [PLACEMENT_FINALIZER] };
    const status = { phase: 'Pending', placedIn: 'acme' };
    host.put({ apiVersion: 'kruntimes.io/v1alpha1', kind: 'Run', metadata, spec: { runtime: 'bash', mode: {} }, status }, 'runs');
  }
  const before = host.get('runs', 'liar', 'build');
  const hostClient = createClient(createInMemoryTransport(host.handler));
  const informers = new SharedInformers({ client: hostClient, log: silentLog });
  const placements = new Placements({
    hostClient,
    informers,
    clock: realClock,
    log: silentLog,
    metrics: new MetricsRegistry(),
    installRuns: () => Promise.resolve(),
    onChange() {},
  });
  const metadata = { uid: '1', name: 'acme', namespace: 'acme', labels: { [OWNED_BY_TENANT]: 'acme' } };
  await placements.release({ apiVersion: 'tenantry.dev/v1alpha1', kind: 'TenantCluster', metadata, spec: {} });
  expect(host.get('runs', 'acme', 'build')).toMatchObject({ metadata: { finalizers: [] }, status: { phase: 'Pending' } });
  expect(host.get('runs', 'acme', 'build')!.status).not.toHaveProperty('placedIn');
  expect(host.get('runs', 'liar', 'build')).toEqual(before);
  await informers.stop();
});
