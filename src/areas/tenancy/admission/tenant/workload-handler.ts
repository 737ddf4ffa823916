import { GROUP as RUNS_GROUP } from '../../../../api/kruntimes.io/v1alpha1/group.ts';
import { ON_ALL_NODES_LABEL, SYSTEM_ROLE } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { forbiddenError } from '../../../../kube/status.ts';
import type { AdmissionHandler, AdmissionReviewRequest } from '../../../../runtime/admission/review.ts';
import { isPlatform } from '../platform-users.ts';
import { claimRefusal, ingressRefusal, podRefusal } from './model/allowed-classes.ts';
import { bindsEverybody, opensEgress } from './model/open-policies.ts';
import { foreignPlacement, machineAccess } from './model/pod-placement.ts';
import { startsSomething } from './model/suspended-writes.ts';
import type { TenantContext, TenantLookup } from './tenant-of-request.ts';

export interface WorkloadRules {
  lookup: TenantLookup;
  /** The tenant whose node it is. */
  tenantOfNode(node: string): string | undefined;
  isNamespaceOf(tenant: string, namespace: string): boolean;
}

/** Judges what would run. Pods are judged whoever makes them: it is always on behalf of whoever wrote their template. */
export function workloadHandler(rules: WorkloadRules): AdmissionHandler {
  return (request) => {
    const context = rules.lookup(request.namespace);
    if (!context || !request.object || request.userInfo.groups?.includes('system:nodes')) return { allowed: true };
    const why = refusal(request, request.object, context, rules);
    if (why === undefined) return { allowed: true };
    const { group, resource } = request.resource;
    throw forbiddenError({ group, resource }, request.name ?? request.object.metadata?.name ?? '', why);
  };
}

function refusal(request: AdmissionReviewRequest, object: KubeObject, context: TenantContext, rules: WorkloadRules): string | undefined {
  if (context.namespace.role === SYSTEM_ROLE) return undefined;
  const { group, resource } = request.resource;
  const starts = () => startsSomething({ group, resource, subResource: request.subResource, object, oldObject: request.oldObject });
  if (context.isSuspended && starts()) return 'the tenant is suspended, and nothing starts in it; have it resumed first';
  // What was there before goes on; Runtimes and Runs are made here and work there.
  if (context.placedIn !== undefined && group !== RUNS_GROUP && !isPlatform(request.userInfo) && starts())
    return `the tenant lives in cluster "${context.placedIn}" of its own; make it there, with \`tenantry cluster kubeconfig ${context.placedIn}\``;
  if (request.subResource === 'scale') return undefined;
  if (resource === 'pods') return podProblem(request, object.spec ?? {}, context, rules);
  if (context.name === undefined || context.namespace.role !== undefined) return undefined;
  // Made of templates, like Pods.
  if (resource === 'persistentvolumeclaims') return claimRefusal(object, context.tenant?.spec.allowed ?? {});
  if (isPlatform(request.userInfo)) return undefined;
  return ownersProblem(resource, object, context, rules);
}

function podProblem({ operation }: AdmissionReviewRequest, spec: Json, context: TenantContext, rules: WorkloadRules): string | undefined {
  const { namespace, name, isPinned, tenant } = context;
  const nodeName: string | undefined = operation === 'CREATE' ? spec.nodeName : undefined;
  if (name === undefined) {
    if (namespace.labels[ON_ALL_NODES_LABEL] === 'true') return undefined;
    if (nodeName && rules.tenantOfNode(nodeName) !== undefined) return `its node is not for everybody; leave nodeName out`;
    return foreignPlacement({ tolerations: spec.tolerations }, undefined, false);
  }
  if (nodeName) return 'it names its node itself; leave nodeName out and let it be scheduled';
  const why = machineAccess(spec) ?? foreignPlacement(spec, name, isPinned);
  return why ?? (namespace.role === undefined ? podRefusal(spec, tenant?.spec.allowed ?? {}) : undefined);
}

/** Said when the owner writes it, and not by a controller that cannot make Pods of it later. */
function ownersProblem(resource: string, object: KubeObject, context: TenantContext, rules: WorkloadRules): string | undefined {
  const { tenant } = context;
  const name = context.name!;
  const allowed = tenant?.spec.allowed ?? {};
  switch (resource) {
    case 'ingresses':
      return ingressRefusal(object, allowed);
    case 'services':
      return object.spec?.externalIPs?.length
        ? 'it claims external addresses, which may be those of others; leave externalIPs out'
        : undefined;
    case 'networkpolicies':
      return opensEgress(object.spec, name, tenant?.spec ?? {}, (namespace) => rules.isNamespaceOf(name, namespace));
    case 'rolebindings':
      return bindsEverybody(object.subjects);
    default:
      return templateProblem(object, context);
  }
}

function templateProblem({ spec }: KubeObject, { name, isPinned, tenant }: TenantContext): string | undefined {
  const template: Json = spec?.jobTemplate?.spec?.template?.spec ?? spec?.template?.spec;
  if (!template) return undefined;
  if (template.nodeName) return 'its Pods name their node themselves; leave nodeName out and let them be scheduled';
  return machineAccess(template) ?? foreignPlacement(template, name, isPinned) ?? podRefusal(template, tenant?.spec.allowed ?? {});
}
