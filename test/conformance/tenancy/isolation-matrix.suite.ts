import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import type { DiscoveredResource } from '../../../src/client/discovery.ts';
import { ServiceAccount } from '../../../src/client/kinds.ts';
import type { TransportRequest } from '../../../src/client/transport.ts';
import { resourcePath } from '../../../src/kube/kind.ts';
import { isStatusError } from '../../../src/kube/status.ts';
import type { ApiTarget } from '../../support/api-target.ts';
import { TenantWorld } from './tenant-world.ts';

/** Questions that everybody may ask about himself. Whatever else a tenant may do outside of its own namespaces is a leak. */
const ALLOWED = new Set([
  'create selfsubjectreviews.authentication.k8s.io',
  'create selfsubjectaccessreviews.authorization.k8s.io',
  'create selfsubjectrulesreviews.authorization.k8s.io',
  // Public certificates, which Kubernetes gives to all service accounts.
  'list clustertrustbundles.certificates.k8s.io',
  'watch clustertrustbundles.certificates.k8s.io',
  'get clustertrustbundles.certificates.k8s.io',
]);

/** Its own tree can be drawn, with the platform's part of it. */
const ALLOWED_AT = new Set([
  'get hierarchyconfigurations.hnc.x-k8s.io at /apis/hnc.x-k8s.io/v1alpha2/namespaces/acme--sys/hierarchyconfigurations/beta',
]);

const OTHERS = ['beta', 'beta--sys', 'acme--sys', 'kube-system', 'tenantry-system'];
const COLLECTION: Record<string, TransportRequest['method']> = { list: 'GET', watch: 'GET', create: 'POST', deletecollection: 'DELETE' };
const SINGLE: Record<string, TransportRequest['method']> = { get: 'GET', update: 'PUT', patch: 'PATCH', delete: 'DELETE' };

interface Attempt {
  what: string;
  request: TransportRequest;
}

/** Every verb of every kind that the server says it has, in every place that is not the tenant's. Writes are dry runs, should one get through. */
function* attemptsOn(resource: DiscoveredResource): Generator<Attempt> {
  const { group, plural, verbs, subresources } = resource;
  const qualified = group === '' ? plural : `${plural}.${group}`;
  const places: (string | undefined)[] = resource.namespaced ? [...OTHERS, undefined] : [undefined];
  for (const namespace of places) {
    const path = resourcePath(resource, namespace);
    const at = `${path}/beta`;
    for (const verb of verbs) {
      if (verb in COLLECTION && (verb !== 'create' || namespace !== undefined || !resource.namespaced))
        yield { what: `${verb} ${qualified}`, request: ask(COLLECTION[verb], path, verb) };
      if (verb in SINGLE && (namespace !== undefined || !resource.namespaced))
        yield { what: `${verb} ${qualified}`, request: ask(SINGLE[verb], at, verb) };
    }
    if (namespace === undefined && resource.namespaced) continue;
    for (const name of subresources)
      for (const verb of ['get', 'create', 'update', 'patch'])
        yield { what: `${verb} ${qualified}/${name}`, request: ask(verb === 'create' ? 'POST' : SINGLE[verb], `${at}/${name}`, verb) };
  }
}

function ask(method: TransportRequest['method'], path: string, verb: string): TransportRequest {
  const query = method === 'GET' ? (verb === 'watch' ? { watch: '1', timeoutSeconds: '1' } : {}) : { dryRun: 'All' };
  const body = method === 'GET' ? undefined : {};
  return { method, path, query, body, ...(method === 'PATCH' ? { contentType: 'application/merge-patch+json' } : {}) };
}

async function codeOf(client: Client, request: TransportRequest): Promise<number> {
  try {
    await client.request(request);
    return 200;
  } catch (error) {
    if (!isStatusError(error)) throw error;
    // Whoever is told that this object is not there was let in.
    return error.code === 404 && error.status.details?.name ? 200 : error.code;
  }
}

/** The rights of one tenant against everything of another. */
export function isolationMatrixSuite(start: () => Promise<ApiTarget>): void {
  let world: TenantWorld;
  let acme: Client;
  beforeAll(async () => {
    world = await TenantWorld.over(await start());
    await world.tenant('acme', { owners: [{ kind: 'ServiceAccount', name: 'ci', namespace: 'acme' }] });
    await world.tenant('beta', { owners: [{ kind: 'User', name: 'bob' }] });
    await world.client.resource(ServiceAccount, 'acme').create({ metadata: { name: 'ci' } });
    acme = await world.withTokenOf('acme', 'ci');
    // Its rights are there when it can use them.
    await world.eventually(async () => (await codeOf(acme, { method: 'GET', path: '/api/v1/namespaces/acme/pods' })) === 200);
  }, 300_000);
  afterAll(() => world?.stop(), 60_000);

  describe('the credentials of a tenant', { timeout: 240_000 }, () => {
    it('lead to nothing outside of it, whatever the server has', async () => {
      const { resources, failed } = await world.client.discovery.resources();
      expect(failed).toEqual([]);
      expect(resources.length).toBeGreaterThan(50);
      const leaks = new Set<string>();
      const attempts = resources.flatMap((resource) => [...attemptsOn(resource)]);
      const next = attempts[Symbol.iterator]();
      const worker = async (): Promise<void> => {
        for (let item = next.next(); !item.done; item = next.next()) {
          const { what, request } = item.value;
          const code = await codeOf(acme, request);
          // 404 and 405: the server does not have that verb or subresource, for anybody.
          if (![403, 404, 405].includes(code) && !ALLOWED.has(what) && !ALLOWED_AT.has(`${what} at ${request.path}`))
            leaks.add(`${code} ${what} at ${request.path}`);
        }
      };
      await Promise.all(Array.from({ length: 8 }, worker));
      expect([...leaks]).toEqual([]);
      expect(attempts.length).toBeGreaterThan(2000);
    });

    it.each(['/metrics', '/logs', '/debug/pprof', '/configz', '/openapi/../metrics'])('do not open %s', async (path) => {
      expect([403, 404]).toContain(await codeOf(acme, { method: 'GET', path }));
    });

    it.each([
      ['another owner', { 'Impersonate-User': 'bob' }],
      ['an account of another tenant', { 'Impersonate-User': 'system:serviceaccount:beta:default' }],
      ['an account of its own system namespace', { 'Impersonate-User': 'system:serviceaccount:acme--sys:default' }],
      ['itself with more groups', { 'Impersonate-User': 'system:serviceaccount:acme:ci', 'Impersonate-Group': 'system:masters' }],
      ['itself as the platform', { 'Impersonate-User': 'system:serviceaccount:acme:ci', 'Impersonate-Group': 'tenantry:platform' }],
    ])('do not make it act as %s', async (_who, headers) => {
      expect(await codeOf(acme, { method: 'GET', path: '/api/v1/namespaces/acme/pods', headers })).toBe(403);
    });

    it('open what is its own, and show that the platform has a part of it', async () => {
      await world.eventually(async () => (await codeOf(acme, { method: 'GET', path: '/api/v1/namespaces/acme--sys' })) === 200);
      for (const path of ['/api/v1/namespaces/acme/secrets', '/apis/tenantry.dev/v1alpha1/tenants/acme', '/api/v1/namespaces/acme'])
        expect(await codeOf(acme, { method: 'GET', path })).toBe(200);
    });
  });
}
