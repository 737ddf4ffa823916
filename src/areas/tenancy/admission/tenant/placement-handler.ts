import { NODE_TENANT, ON_ALL_NODES_LABEL } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { AdmissionHandler } from '../../../../runtime/admission/review.ts';
import { pinned, unpinned } from '../../tenant/model/pin.ts';
import { awayFromTenants, toleratesAnyTenant } from './model/pod-placement.ts';
import type { TenantContext, TenantLookup } from './tenant-of-request.ts';

/**
 * Pins the Pods of tenants with nodes of their own there, and keeps those of nobody off such nodes where they tolerate everything.
 * DaemonSets are changed in their template: their Pods are made for one node each.
 */
export function placementHandler(lookup: TenantLookup): AdmissionHandler {
  return ({ namespace, object }) => {
    const context = lookup(namespace);
    if (!context || !object) return { allowed: true };
    const spec = podSpecOf(object);
    if (!spec) return { allowed: true };
    const placed = withRuntimeClass(place(spec, context), context);
    return placed === spec ? { allowed: true } : { allowed: true, object: withPodSpec(object, placed) };
  };
}

function place(spec: Json, { namespace, name, isPinned }: TenantContext): Json {
  if (name === undefined) {
    const isEverywhere = namespace.labels[ON_ALL_NODES_LABEL] === 'true';
    return isEverywhere || !toleratesAnyTenant(spec) ? spec : awayFromTenants(spec);
  }
  if (!isPinned) return unpinned(spec, name);
  // What names the nodes of others is refused, not corrected.
  return (spec.nodeSelector?.[NODE_TENANT] ?? name) === name ? pinned(spec, name) : spec;
}

/** The first allowed runtime class is that of Pods that name none: a list of sandboxes must not be left by saying nothing. */
function withRuntimeClass(spec: Json, { namespace, tenant }: TenantContext): Json {
  const first = tenant?.spec.allowed?.runtimeClasses?.[0];
  if (first === undefined || spec.runtimeClassName || namespace.role !== undefined) return spec;
  return { ...spec, runtimeClassName: first };
}

function podSpecOf(object: KubeObject): Json {
  return object.kind === 'Pod' ? object.spec : object.spec?.template?.spec;
}

function withPodSpec(object: KubeObject, spec: Json): KubeObject {
  if (object.kind === 'Pod') return { ...object, spec };
  return { ...object, spec: { ...object.spec, template: { ...object.spec.template, spec } } };
}
