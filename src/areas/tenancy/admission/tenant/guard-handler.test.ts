import { expect, test } from 'vitest';
import { INHERITED_FROM } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { OWNED_BY_TENANT, ROLE_LABEL, SYSTEM_ROLE, TENANT_LABEL } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import type { AdmissionReviewRequest } from '../../../../runtime/admission/review.ts';
import { Forest } from '../../forest/forest.ts';
import { guardHandler } from './guard-handler.ts';

const forest = new Forest();
const facts = (labels: Record<string, string>) => ({ uid: undefined, labels, annotations: {}, terminating: false });
forest.setNamespace('acme', facts({ [TENANT_LABEL]: 'acme' }));
forest.setNamespace('acme--sys', facts({ [ROLE_LABEL]: SYSTEM_ROLE }));
forest.setHierarchy('acme--sys', { parent: 'acme', allowCascadingDeletion: false, labels: [], annotations: [], terminating: false });
const handler = guardHandler((name) => {
  const namespace = forest.get(name!);
  return namespace && { namespace, name: namespace.tenant, tenant: undefined, isPinned: false, isSuspended: false };
});

type Labels = Record<string, string>;
const policy = (labels: Labels) => ({ apiVersion: 'v1', kind: 'X', metadata: { name: 'x', labels } });
async function ask(
  before: Labels | undefined,
  after: Labels | undefined,
  { username = 'alice', namespace = 'acme' } = {},
): Promise<unknown> {
  const request = {
    operation: before ? (after ? 'UPDATE' : 'DELETE') : 'CREATE',
    resource: { group: 'networking.k8s.io', version: 'v1', resource: 'networkpolicies' },
    namespace,
    userInfo: { username, groups: ['system:authenticated'] },
    object: after && policy(after),
    oldObject: before && policy(before),
  } as unknown as AdmissionReviewRequest;
  return handler(request, new AbortController().signal);
}

const KEPT = { [OWNED_BY_TENANT]: 'acme' };
const COPY = { ...KEPT, [INHERITED_FROM]: 'acme' };

test.each<[string, Parameters<typeof ask>]>([
  ['an object of the owner’s own', [undefined, { app: 'x' }]],
  ['the end of an object of the owner’s own', [{ app: 'x' }, undefined]],
  ['a copy of an object of the owner’s own, which the tree judges', [{ [INHERITED_FROM]: 'acme' }, undefined]],
  ['what the platform runs for the tenant', [KEPT, { ...KEPT, app: 'x' }, { username: 'system:serviceaccount:acme--sys:keda' }]],
])('%s, is let through', async (_what, args) => {
  expect(await ask(...args)).toEqual({ allowed: true });
});

test.each<[string, Parameters<typeof ask>, string]>([
  ['the end of what the platform keeps', [KEPT, undefined], 'kept by the platform'],
  ['the end of a copy of what the platform keeps', [COPY, undefined], 'kept by the platform'],
  ['a change of a copy of what the platform keeps', [COPY, { ...COPY, app: 'x' }], 'kept by the platform'],
  ['taking the mark off it', [KEPT, {}], 'kept by the platform'],
  ['the platform’s mark on another', [undefined, KEPT], 'can only be set by the platform'],
  ['anything in the platform’s namespace', [undefined, {}, { namespace: 'acme--sys' }], 'belongs to the platform'],
])('%s, is refused', async (_what, args, why) => {
  await expect(ask(...args)).rejects.toThrow(why);
});
