import { MANAGED_LABEL, PLATFORM_NAMESPACE } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { TenantKind, type Tenant } from '../../../api/tenantry.dev/v1alpha1/tenant.ts';
import type { Client } from '../../../client/client.ts';
import { ConfigMap } from '../../../client/kinds.ts';
import { apiVersionOf } from '../../../kube/kind.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { FIELD_MANAGER } from '../installation/plugin-objects.ts';

const PART = 'tenant-events';
const FINALIZER = 'plugins.tenantry.dev/tenant-events';

/**
 * Who has something at the broker: a ConfigMap for each tenant that ever had, which goes with the tenant and is held until the broker has
 * nothing of it. So what plugins left that were uninstalled long ago goes too, and nobody gets what an earlier tenant of the name left.
 */
export class TenantClaims {
  readonly informer: Informer;
  readonly #client: Client;
  readonly #tenants: Informer<Tenant>;

  constructor(client: Client, informers: SharedInformers, tenants: Informer<Tenant>) {
    this.#client = client;
    this.#tenants = tenants;
    const own = { namespace: PLATFORM_NAMESPACE, labelSelector: `${MANAGED_LABEL}=${PART}` };
    this.informer = informers.get(ConfigMap, own);
  }

  /** @returns whether the tenant may have something there: not while an earlier one of its name still has */
  async claim(name: string): Promise<boolean> {
    const tenant = this.#tenants.get(name);
    if (!tenant) return false;
    const { metadata } = this.informer.find(PLATFORM_NAMESPACE, claimNameOf(name)) ?? (await this.#made(tenant));
    const isOwn = metadata.ownerReferences?.some(({ uid }) => uid === tenant.metadata.uid) === true;
    return isOwn && metadata.deletionTimestamp === undefined;
  }

  async #made(tenant: Tenant): Promise<KubeObject> {
    const claims = this.#client.resource<KubeObject>(ConfigMap, PLATFORM_NAMESPACE);
    const claim = claimOf(tenant);
    try {
      return await claims.create(claim, { fieldManager: FIELD_MANAGER });
    } catch (error) {
      // Of a moment ago, by another plugin of the tenant.
      if (!isStatusError(error, 'AlreadyExists')) throw error;
      return claims.get(claim.metadata.name!);
    }
  }

  has(tenant: string): boolean {
    return this.informer.find(PLATFORM_NAMESPACE, claimNameOf(tenant)) !== undefined;
  }

  /** Nothing of the tenant is left. */
  async release({ metadata }: KubeObject): Promise<void> {
    const finalizers = (metadata.finalizers ?? []).filter((each) => each !== FINALIZER);
    const patch = { metadata: { resourceVersion: metadata.resourceVersion, finalizers } };
    try {
      await this.#client.resource<KubeObject>(ConfigMap, PLATFORM_NAMESPACE).patch(metadata.name!, { type: 'merge', patch });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }
}

export function claimNameOf(tenant: string): string {
  return `plugin-events-of-${tenant}`;
}

function claimOf({ metadata: { name, uid } }: Tenant): KubeObject {
  const owner = { apiVersion: apiVersionOf(TenantKind), kind: TenantKind.kind, name: name!, uid: uid! };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: claimNameOf(name!), labels: { [MANAGED_LABEL]: PART }, ownerReferences: [owner], finalizers: [FINALIZER] },
    data: { tenant: name! },
  };
}

export function tenantOfClaim({ data }: KubeObject): string {
  return (data as { tenant: string }).tenant;
}
