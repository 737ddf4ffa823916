import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runtimeAccessPolicy } from '../../../src/areas/runs/access/runtime-access.ts';
import type { Json } from '../../../src/kube/object.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';
import type { Answer, ApiTarget } from '../../support/api-target.ts';

const POLICIES = '/apis/admissionregistration.k8s.io/v1';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const RUNS = '/apis/kruntimes.io/v1alpha1/namespaces/default/runs';

/** Who may use which Runtime, on any API server. */
export function runtimeAccessSuite(name: string, start: () => Promise<ApiTarget>): void {
  describe(`the verb "use" on Runtimes, on ${name}`, () => {
    let target: ApiTarget;

    const create = async (path: string, object: Json): Promise<Answer> => {
      const answer = await target.request('POST', path, object);
      if (answer.status !== 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
      return answer;
    };
    const as = (user: string) => ({ headers: { 'impersonate-user': user } });
    const aRun = (runName: string, runtime: string): Json => ({
      apiVersion: 'kruntimes.io/v1alpha1',
      kind: 'Run',
      metadata: { name: runName },
      spec: { runtime, mode: { task: { args: ['true'] } } },
    });
    const aRuntime = (runtime: string, access?: string): Json => ({
      apiVersion: 'kruntimes.io/v1alpha1',
      kind: 'Runtime',
      metadata: { name: runtime },
      spec: { template: { spec: { containers: [{ name: 'runtime', image: 'example/none' }] } }, ...(access && { access }) },
    });
    const grant = async (role: string, user: string, rule: Json) => {
      await create(`${RBAC}/namespaces/default/roles`, { metadata: { name: role }, rules: [rule] });
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: role };
      const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }];
      await create(`${RBAC}/namespaces/default/rolebindings`, { metadata: { name: `${role}-${user}` }, roleRef, subjects });
    };
    const untilRefused = async (user: string): Promise<Answer> => {
      // A policy takes effect a moment after it was written.
      for (let attempt = 0; ; attempt++) {
        const answer = await target.request('POST', `${RUNS}?dryRun=All`, aRun('probe', 'secret'), as(user));
        if (answer.status === 403 || attempt === 100) return answer;
        await new Promise((resolve) => void setTimeout(resolve, 100));
      }
    };

    beforeAll(async () => {
      target = await start();
      for (const definition of ownCustomResourceDefinitions()) {
        await create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
      }
      for (let attempt = 0; attempt < 100; attempt++) {
        const [runs, runtimes] = await Promise.all([target.request('GET', RUNS), target.request('GET', RUNS.replace(/runs$/, 'runtimes'))]);
        if (runs.status === 200 && runtimes.status === 200) break;
        await new Promise((resolve) => void setTimeout(resolve, 100));
      }
      const [policy, binding] = runtimeAccessPolicy();
      await create(`${POLICIES}/validatingadmissionpolicies`, policy);
      await create(`${POLICIES}/validatingadmissionpolicybindings`, binding);
      for (const [runtime, access] of [
        ['plain', undefined],
        ['open', 'Open'],
        ['secret', 'Restricted'],
      ] as const) {
        await create('/apis/kruntimes.io/v1alpha1/namespaces/default/runtimes', aRuntime(runtime, access));
      }
      const runs = { apiGroups: ['kruntimes.io'], resources: ['runs'], verbs: ['get', 'create', 'patch'] };
      await grant('runs-eve', 'eve', runs);
      await grant('runs-alice', 'alice', runs);
      await grant('use-secret', 'alice', {
        apiGroups: ['kruntimes.io'],
        resources: ['runtimes'],
        resourceNames: ['secret'],
        verbs: ['use'],
      });
      await grant('use-other', 'eve', { apiGroups: ['kruntimes.io'], resources: ['runtimes'], resourceNames: ['plain'], verbs: ['use'] });
      await untilRefused('eve');
    }, 120_000);
    afterAll(() => target?.close());

    it('whoever lacks it is refused a restricted Runtime, and told how to get it', async () => {
      const { status, body } = await target.request('POST', RUNS, aRun('refused', 'secret'), as('eve'));
      expect(status).toBe(403);
      expect(body.reason).toBe('Forbidden');
      expect(body.message).toContain(
        'Cannot use Runtime "secret": it is restricted, and user "eve" lacks the verb "use" on runtimes.kruntimes.io "secret" in namespace "default"; ' +
          'who may give it does so with: krt runtime allow secret -n default --for-user eve',
      );
    });

    it('whoever has it may use that Runtime', async () => {
      expect((await target.request('POST', RUNS, aRun('allowed', 'secret'), as('alice'))).status).toBe(201);
    });

    it('an administrator needs no grant', async () => {
      expect((await target.request('POST', RUNS, aRun('by-admin', 'secret'))).status).toBe(201);
    });

    it.each(['plain', 'open', 'not-there'])('it is not needed for the Runtime "%s"', async (runtime) => {
      expect((await target.request('POST', RUNS, aRun(`for-${runtime}`, runtime), as('eve'))).status).toBe(201);
    });

    it('a Run that begins without a spec does not get around it', async () => {
      const bare = { apiVersion: 'kruntimes.io/v1alpha1', kind: 'Run', metadata: { name: 'bare' } };
      expect((await target.request('POST', RUNS, bare, as('eve'))).status).toBe(201);
      const patch = { spec: aRun('bare', 'secret').spec };
      const merge = { contentType: 'application/merge-patch+json', ...as('eve') };
      expect((await target.request('PATCH', `${RUNS}/bare`, patch, merge)).status).toBe(403);
    });

    it('a Run that is there may still be cancelled by whoever may patch it', async () => {
      const merge = { contentType: 'application/merge-patch+json', ...as('eve') };
      const { status } = await target.request('PATCH', `${RUNS}/allowed`, { spec: { cancelRequested: true } }, merge);
      expect(status).toBe(200);
    });
  });
}
