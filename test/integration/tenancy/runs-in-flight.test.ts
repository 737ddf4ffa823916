import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HierarchicalResourceQuotaKind } from '../../../src/api/hnc.x-k8s.io/v1alpha2/hierarchical-resource-quota.ts';
import { RunKind } from '../../../src/api/kruntimes.io/v1alpha1/run.ts';
import { runPlacesHandler } from '../../../src/areas/tenancy/admission/quota/run-places.ts';
import { ensureReservationObjects } from '../../../src/areas/tenancy/quota/reservations.ts';
import { openTenancy } from '../../../src/areas/tenancy/start-tenancy.ts';
import { Namespace } from '../../../src/client/kinds.ts';
import { isStatusError } from '../../../src/kube/status.ts';
import { FakeClock } from '../../../src/lib/clock-fake.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { MetricsRegistry } from '../../../src/lib/metrics.ts';
import type { AdmissionReviewRequest } from '../../../src/runtime/admission/review.ts';
import { TenantWorld } from '../../conformance/tenancy/tenant-world.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';
import { startEmbeddedTarget } from '../../support/embedded-target.ts';

const LIMIT = 30;
const NAMESPACES = ['acme', 'acme--a', 'acme--b', 'acme--c'];
const spec = { runtime: 'nobody-serves-it', source: { inline: 'true' }, mode: { task: {} } };

let world: TenantWorld;

beforeAll(async () => {
  world = await TenantWorld.over(await startEmbeddedTarget(ownCustomResourceDefinitions));
  await world.tenant('acme', { runs: { maxInFlight: LIMIT } });
  for (const name of NAMESPACES.slice(1)) await world.namespace('acme', name);
}, 120_000);
afterAll(() => world?.stop(), 60_000);

async function tryCreate(namespace: string, name: string): Promise<string> {
  try {
    await world.client.resource(RunKind, namespace).create({ metadata: { name }, spec });
    return 'made';
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return error.message;
  }
}

function end(namespace: string, name: string): Promise<unknown> {
  return world.client.resource(RunKind, namespace).status.patch(name, { type: 'merge', patch: { status: { phase: 'Cancelled' } } });
}

describe('Runs in flight of a tenant', { timeout: 60_000 }, () => {
  it('fill their places exactly when 200 are made at once, and are told in the quota and the Tenant', async () => {
    const outcomes = await Promise.all(Array.from({ length: 200 }, (_, index) => tryCreate(NAMESPACES[index % 4], `run-${index}`)));
    expect(outcomes.filter((outcome) => outcome === 'made')).toHaveLength(LIMIT);
    expect(outcomes.find((outcome) => outcome !== 'made')).toMatch(
      /^runs\.kruntimes\.io "run-\d+" is forbidden: exceeded hierarchical quota in namespace "acme": "tenant", requested: tenantry\.dev\/runs-in-flight=1, used: tenantry\.dev\/runs-in-flight=30, limited: tenantry\.dev\/runs-in-flight=30$/,
    );
    const tenant = await world.until('acme', ({ status }) => status?.usage?.['tenantry.dev/runs-in-flight']?.used === '30');
    expect(tenant.status?.usage?.['tenantry.dev/runs-in-flight']).toEqual({ hard: '30', used: '30' });

    const [first, second] = outcomes.flatMap((outcome, index) => (outcome === 'made' ? [index] : []));
    await end(NAMESPACES[first % 4], `run-${first}`);
    await world.eventually(async () => (await tryCreate('acme--b', 'takes-the-place')) === 'made');
    expect(await tryCreate('acme--b', 'one-too-many')).toContain('exceeded hierarchical quota');

    // A create that fails later gives its place back at once.
    await end(NAMESPACES[second % 4], `run-${second}`);
    await world.eventually(async () => (await tryCreate('acme--b', 'takes-the-place')).includes('already exists'));
    expect(await tryCreate('acme--b', 'fits')).toBe('made');
    expect(await tryCreate('acme--b', 'does-not')).toContain('exceeded hierarchical quota');
  });

  it('are limited further below by a quota of the owners', async () => {
    await world.patch('acme', { runs: { maxInFlight: 1000 } });
    await world.client
      .resource(HierarchicalResourceQuotaKind, 'acme--c')
      .create({ metadata: { name: 'few' }, spec: { hard: { 'tenantry.dev/runs-in-flight': '0' } } });
    await world.eventually(async () => (await tryCreate('acme--c', `refused-${Math.random()}`)).includes('in namespace "acme--c": "few"'));
    expect(await tryCreate('acme--a', 'elsewhere')).toBe('made');
  });

  it('are never too many when several replicas of admission decide, and a place that nobody took is free again after five seconds', async () => {
    await world.client.resource(Namespace).create({ metadata: { name: 'tenantry-system' } });
    await ensureReservationObjects(world.client);
    await world.tenant('beta', { runs: { maxInFlight: 20 } });
    const clock = new FakeClock();
    const open = () => openTenancy({ client: world.client, clock, log: silentLog, metrics: new MetricsRegistry() });
    const replicas = await Promise.all([open(), open(), open()]);
    const ask = replicas.map((replica) => runPlacesHandler(replica));
    let asked = 0;
    const decide = async (replica: number): Promise<boolean> => {
      const uid = `uid-${asked++}`;
      const request = { uid, operation: 'CREATE', namespace: 'beta', object: { apiVersion: '', kind: 'Run', metadata: { uid } } };
      const resource = { group: 'kruntimes.io', version: 'v1alpha1', resource: 'runs' };
      try {
        const verdict = await ask[replica]({ ...request, resource } as AdmissionReviewRequest, new AbortController().signal);
        return verdict.allowed;
      } catch (error) {
        if (isStatusError(error, 'Forbidden')) return false;
        throw error;
      }
    };
    const round = async () => (await Promise.all(Array.from({ length: 150 }, (_, index) => decide(index % 3)))).filter(Boolean).length;
    expect(await round()).toBe(20);
    expect(await round()).toBe(0);
    await clock.advance(5001);
    expect(await round()).toBe(20);
    await Promise.all(replicas.map((replica) => replica.stop()));
  });
});
