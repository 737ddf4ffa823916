import { OWNED_BY_TENANT, systemNamespaceOf } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import type { ObjectMeta } from '../../../../kube/object.ts';
import { forbiddenError } from '../../../../kube/status.ts';
import type { AdmissionHandler, AdmissionReviewRequest } from '../../../../runtime/admission/review.ts';
import { isPlatform, serviceAccountNamespace } from '../platform-users.ts';
import type { TenantContext, TenantLookup } from './tenant-of-request.ts';

const RESERVED = 'tenantry.dev/';

/** Keeps from owners what the platform wrote among what is theirs. */
export function guardHandler(lookup: TenantLookup): AdmissionHandler {
  return (request) => {
    const context = lookup(request.namespace);
    if (!context?.name || isPlatform(request.userInfo)) return { allowed: true };
    const why = refusal(request, context);
    if (why === undefined) return { allowed: true };
    const { group, resource } = request.resource;
    throw forbiddenError({ group, resource }, request.name ?? '', why);
  };
}

function refusal({ operation, object, oldObject, userInfo }: AdmissionReviewRequest, context: TenantContext): string | undefined {
  const { namespace, name, tenant } = context;
  const account = serviceAccountNamespace(userInfo);
  // What the platform runs for the tenant, and a plugin in its own namespace.
  const isComponent = account === systemNamespaceOf(name!) || (account === namespace.name && namespace.role !== undefined);
  if (isComponent) return undefined;
  if (namespace.role !== undefined) return `namespace "${namespace.name}" belongs to the platform, and only the platform changes it`;
  if (operation === 'CREATE' && tenant?.metadata.deletionTimestamp !== undefined)
    return 'the tenant is being deleted; nothing new is made in it';
  const [before, after] = [oldObject?.metadata, object?.metadata];
  // Copies down the tree among them: whether the tree keeps those of their kind is a setting.
  if (before?.labels?.[OWNED_BY_TENANT] !== undefined) return 'it is kept by the platform for the whole tenant; have the Tenant changed';
  return operation === 'DELETE' ? undefined : reservedKey(before, after);
}

function reservedKey(before: ObjectMeta | undefined, after: ObjectMeta | undefined): string | undefined {
  for (const field of ['labels', 'annotations'] as const) {
    const old = before?.[field] ?? {};
    const next = after?.[field] ?? {};
    for (const key of [...Object.keys(old), ...Object.keys(next)])
      if (key.startsWith(RESERVED) && old[key] !== next[key]) return `${field.slice(0, -1)} "${key}" can only be set by the platform`;
  }
  return undefined;
}
