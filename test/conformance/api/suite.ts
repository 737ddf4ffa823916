import { afterAll, beforeAll, describe } from 'vitest';
import type { ApiTarget } from '../../support/api-target.ts';
import { customResourcesSuite } from './custom-resources.suite.ts';
import { crudSuite } from './crud.suite.ts';
import { deletionSuite } from './deletion.suite.ts';
import { identitySuite } from './identity.suite.ts';
import { listSuite } from './list.suite.ts';
import { patchSuite } from './patch.suite.ts';
import { refusalSuite } from './refusal.suite.ts';
import { watchSuite } from './watch.suite.ts';

/** What a part of the suite gets: the server, and a namespace of its own. */
export interface ApiSuiteContext {
  target(): ApiTarget;
  namespace: string;
  /** `/api/v1/namespaces/<own>/configmaps` and the like. */
  path(resource: string, name?: string): string;
}

const PARTS: Record<string, (context: ApiSuiteContext) => void> = {
  crud: crudSuite,
  list: listSuite,
  watch: watchSuite,
  patch: patchSuite,
  deletion: deletionSuite,
  refusal: refusalSuite,
  identity: identitySuite,
  'custom-resources': customResourcesSuite,
};

/** The behaviour of a Kubernetes API, asserted with the same expectations on every server that claims to be one. */
export function apiConformance(name: string, start: () => Promise<ApiTarget>): void {
  describe(`Kubernetes API on ${name}`, () => {
    let target: ApiTarget;
    beforeAll(async () => {
      target = await start();
    }, 120_000);
    afterAll(() => target?.close());

    for (const [part, suite] of Object.entries(PARTS)) {
      describe(part, () => {
        const namespace = `conformance-${part}`;
        beforeAll(async () => {
          const { status } = await target.request('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
          if (status !== 201) throw new Error(`cannot make the namespace ${namespace}: ${status}`);
        });
        suite({ target: () => target, namespace, path: (resource, own) => pathOf(namespace, resource, own) });
      });
    }
  });
}

const GROUPS: Record<string, string> = {
  deployments: '/apis/apps/v1',
  replicasets: '/apis/apps/v1',
  jobs: '/apis/batch/v1',
  roles: '/apis/rbac.authorization.k8s.io/v1',
  rolebindings: '/apis/rbac.authorization.k8s.io/v1',
  networkpolicies: '/apis/networking.k8s.io/v1',
  ingresses: '/apis/networking.k8s.io/v1',
  leases: '/apis/coordination.k8s.io/v1',
  horizontalpodautoscalers: '/apis/autoscaling/v2',
  poddisruptionbudgets: '/apis/policy/v1',
};

function pathOf(namespace: string, resource: string, name?: string): string {
  return `${GROUPS[resource] ?? '/api/v1'}/namespaces/${namespace}/${resource}${name === undefined ? '' : `/${name}`}`;
}
