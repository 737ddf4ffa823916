import { systemNamespaceOf } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { deepEqual } from '../../../../kube/json-value.ts';
import { forbiddenError } from '../../../../kube/status.ts';
import type { AdmissionHandler } from '../../../../runtime/admission/review.ts';
import { namespaceTaken, problemsOf, type ExistingNamespace } from '../../tenant/model/validate-tenant.ts';

const TENANTS = { group: 'tenantry.dev', resource: 'tenants' };

/** A Tenant that cannot become what it says is refused when it is written, with all that is wrong with it. */
export function tenantHandler(
  namespace: (name: string) => ExistingNamespace | undefined,
  clusterRefusal: (tenant: Tenant) => Promise<string | undefined>,
): AdmissionHandler {
  return async ({ operation, object, oldObject }) => {
    const tenant = object as Tenant | undefined;
    // One that was let in before must be able to go, whatever is wrong with it now.
    if (!tenant || tenant.metadata.deletionTimestamp || deepEqual(tenant.spec, oldObject?.spec)) return { allowed: true };
    const name = tenant.metadata.name ?? '';
    const problems = problemsOf(tenant);
    // What it has it may keep, whatever the policies say by now.
    if (tenant.spec?.isolation === 'Cluster' && oldObject?.spec?.isolation !== 'Cluster') {
      const refusal = await clusterRefusal(tenant);
      if (refusal !== undefined) problems.push(refusal);
    }
    const taken = operation === 'CREATE' ? namespaceTaken(name, namespace(name), namespace(systemNamespaceOf(name))) : undefined;
    if (taken !== undefined) problems.push(taken);
    if (problems.length > 0) throw forbiddenError(TENANTS, name, problems.join('; '));
    return { allowed: true };
  };
}
