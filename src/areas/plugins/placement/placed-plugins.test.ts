import { afterEach, expect, it } from 'vitest';
import { FakeApi } from '../../../../test/support/fake-api.ts';
import { PLACED_FROM_LABEL } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { createClient } from '../../../client/client.ts';
import { createInMemoryTransport } from '../../../client/in-memory/in-memory-transport.ts';
import type { InMemoryHandler } from '../../../client/transport.ts';
import { realClock } from '../../../lib/clock.ts';
import { PlacedPlugins } from './placed-plugins.ts';
import type { TenantHome } from './tenant-home.ts';

let placed: PlacedPlugins;
afterEach(() => placed.stop());

function placedIn(handler: InMemoryHandler | undefined, isStill = false): PlacedPlugins {
  const home = handler && {
    cluster: 'acme',
    client: createClient(createInMemoryTransport(handler)),
    endpoint: '',
    authorityPem: '',
    workers: 1,
  };
  const homes = { of: (): TenantHome | undefined => home, isStill: () => isStill, onChange: () => () => {} };
  placed = new PlacedPlugins({ homes, clock: realClock, namespaces: { get: () => undefined } });
  return placed;
}

it('what is in a cluster is known when everything was listed', async () => {
  const api = new FakeApi();
  const metadata = { name: 'plugin-1', namespace: 'p', labels: { [PLACED_FROM_LABEL]: 'acme' } };
  api.put({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { replicas: 1 } }, 'deployments');
  placedIn(api.handler);
  expect(placed.deployments('acme', 'p')).toBeUndefined();
  await expect.poll(() => placed.deployments('acme', 'p')?.map((each) => each.metadata.name), { timeout: 10_000 }).toEqual(['plugin-1']);
  expect(placed.deployments('acme', 'other')).toEqual([]);
});

it('what is in a cluster that answers nobody is not known', () => {
  expect(placedIn(undefined).deployments('acme', 'p')).toBeUndefined();
});

it('nothing is in a cluster that sleeps', () => {
  expect(placedIn(undefined, true).deployments('acme', 'p')).toEqual([]);
});
