import { TENANT_QUOTA } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { platformCounts } from '../../quota/model/platform-counts.ts';

/** Why an owner may not have this quota in his tenant, with which he would limit the platform, or undo its limits; undefined when he may. */
export function ownersQuotaProblem({ metadata, spec }: KubeObject): string | undefined {
  const name = metadata.name ?? '';
  // Scoped quotas of one name share what counts for them, and the nearest one says what that is.
  if (name === TENANT_QUOTA || name.startsWith(`${TENANT_QUOTA}-`))
    return `"${TENANT_QUOTA}" and "${TENANT_QUOTA}-<name>" are the quotas of the Tenant itself; choose another name`;
  const [counted] = platformCounts(spec?.hard);
  return counted && `it limits "${counted}", which the platform writes in every namespace; leave it out`;
}
