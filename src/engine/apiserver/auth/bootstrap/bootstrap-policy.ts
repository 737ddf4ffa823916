import type { GroupResource, KubeObject } from '../../../../kube/object.ts';
import { createUnlessThere } from '../../bootstrap/system-objects.ts';
import type { ObjectWriter } from '../../registry/objects.ts';
import { aggregatedRules } from '../rbac/aggregation.ts';
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES } from '../rbac/policy-index.ts';
import { bindsAnother, completeBinding, completeRole, isProtected } from './reconcile.ts';

const NAMESPACES = { group: '', resource: 'namespaces' };

const RESOURCES: Record<string, GroupResource> = {
  ClusterRole: CLUSTER_ROLES,
  ClusterRoleBinding: CLUSTER_ROLE_BINDINGS,
  Role: ROLES,
  RoleBinding: ROLE_BINDINGS,
};

export interface BootstrapReport {
  created: number;
  updated: number;
}

async function recordedObjects(): Promise<KubeObject[]> {
  const { default: recorded } = await import('../generated/bootstrap-rbac.json', { with: { type: 'json' } });
  return recorded as unknown as KubeObject[];
}

/** view is part of edit, and edit of admin: so many passes fill them all. */
const AGGREGATION_DEPTH = 3;

/** With the rules that the aggregation would gather, so that the roles work before its controller has run. */
function withAggregatedRules(objects: KubeObject[]): KubeObject[] {
  let filled = objects;
  for (let pass = 0; pass < AGGREGATION_DEPTH; pass++) {
    const roles = filled.filter(({ kind }) => kind === 'ClusterRole');
    filled = filled.map((object) => (object.aggregationRule ? { ...object, rules: aggregatedRules(object, roles) } : object));
  }
  return filled;
}

/** Creates what is missing of kube-apiserver's default policy and completes what lacks something; never takes anything away. */
export async function ensureBootstrapPolicy(writer: ObjectWriter): Promise<BootstrapReport> {
  const report: BootstrapReport = { created: 0, updated: 0 };
  let objects = await recordedObjects();
  const lacksAggregated = objects.some(
    ({ aggregationRule, metadata }) => aggregationRule && !writer.get(CLUSTER_ROLES, '', metadata.name!),
  );
  if (lacksAggregated) objects = withAggregatedRules(objects);
  await ensureNamespaces(writer, objects);
  // All at once: the writes share their commits.
  await Promise.all(objects.map((expected) => ensure(writer, expected, report)));
  return report;
}

async function ensureNamespaces(writer: ObjectWriter, objects: readonly KubeObject[]): Promise<void> {
  const names = new Set(objects.map(({ metadata }) => metadata.namespace).filter((name) => name !== undefined));
  const missing = [...names].filter((name) => !writer.get(NAMESPACES, '', name));
  await Promise.all(
    missing.map((name) => createUnlessThere(writer, NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
  );
}

async function ensure(writer: ObjectWriter, expected: KubeObject, report: BootstrapReport): Promise<void> {
  const resource = RESOURCES[expected.kind];
  const { namespace = '', name = '' } = expected.metadata;
  const existing = writer.get(resource, namespace, name);
  if (!existing) {
    if (await createUnlessThere(writer, resource, expected)) report.created++;
    return;
  }
  if (isProtected(existing)) return;
  const isBinding = expected.kind.endsWith('Binding');
  if (isBinding && bindsAnother(existing, expected)) {
    await writer.delete(resource, namespace, name);
    await createUnlessThere(writer, resource, expected);
    report.updated++;
    return;
  }
  const complete = isBinding ? completeBinding : completeRole;
  // Most are complete: that is found out on a shallow copy, without a write or a deep one.
  if (!complete({ ...existing, metadata: { ...existing.metadata } }, expected)) return;
  await writer.update(resource, namespace, name, (draft) => complete(draft, expected));
  report.updated++;
}
