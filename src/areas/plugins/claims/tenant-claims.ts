import { MANAGED_LABEL, PLATFORM_NAMESPACE } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { TenantKind, type Tenant } from '../../../api/tenantry.dev/v1alpha1/tenant.ts';
import type { Client } from '../../../client/client.ts';
import { ConfigMap } from '../../../client/kinds.ts';
import { apiVersionOf } from '../../../kube/kind.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { FIELD_MANAGER } from '../installation/plugin-objects.ts';

/** What is claimed: at the broker, or as data. */
export type Claimed = 'events' | 'data';

/**
 * Who has something outside of Kubernetes: a ConfigMap for each tenant that ever had, which goes with the tenant and is held until nothing of
 * it is left there. So what plugins left that were uninstalled long ago goes too, and nobody gets what an earlier tenant of the name left.
 */
export class TenantClaims {
  readonly informer: Informer;
  readonly #claimed: Claimed;
  readonly #client: Client;
  readonly #tenants: Informer<Tenant>;

  constructor(claimed: Claimed, client: Client, informers: SharedInformers, tenants: Informer<Tenant>) {
    this.#claimed = claimed;
    this.#client = client;
    this.#tenants = tenants;
    const own = { namespace: PLATFORM_NAMESPACE, labelSelector: `${MANAGED_LABEL}=${partOf(claimed)}` };
    this.informer = informers.get(ConfigMap, own);
  }

  /** @returns whether the tenant may have something there: not while an earlier one of its name still has */
  async claim(name: string): Promise<boolean> {
    const tenant = this.#tenants.get(name);
    if (!tenant) return false;
    const claim = this.find(name) ?? (await this.#made(tenant));
    return isOwnedBy(claim, tenant) && claim.metadata.deletionTimestamp === undefined;
  }

  async #made(tenant: Tenant): Promise<KubeObject> {
    const claims = this.#client.resource<KubeObject>(ConfigMap, PLATFORM_NAMESPACE);
    const claim = claimOf(this.#claimed, tenant);
    try {
      return await claims.create(claim, { fieldManager: FIELD_MANAGER });
    } catch (error) {
      // Of a moment ago, by another plugin of the tenant.
      if (!isStatusError(error, 'AlreadyExists')) throw error;
      return claims.get(claim.metadata.name!);
    }
  }

  find(tenant: string): KubeObject | undefined {
    return this.informer.find(PLATFORM_NAMESPACE, claimNameOf(this.#claimed, tenant));
  }

  has(tenant: string): boolean {
    return this.find(tenant) !== undefined;
  }

  /** Whether plugins of the very tenant are still there. Those of the next one of its name have nothing yet: they wait for this claim to go. */
  isInUse(claim: KubeObject, installations: readonly PluginInstallation[]): boolean {
    const tenant = this.#tenants.get(tenantOfClaim(claim));
    const isNext = tenant !== undefined && !isOwnedBy(claim, tenant);
    return installations.some(({ metadata }) => !isNext || metadata.deletionTimestamp !== undefined);
  }

  /** Nothing of the tenant is left. */
  async release({ metadata }: KubeObject): Promise<void> {
    const finalizers = (metadata.finalizers ?? []).filter((each) => each !== finalizerOf(this.#claimed));
    const patch = { metadata: { resourceVersion: metadata.resourceVersion, finalizers } };
    try {
      await this.#client.resource<KubeObject>(ConfigMap, PLATFORM_NAMESPACE).patch(metadata.name!, { type: 'merge', patch });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }
}

function isOwnedBy({ metadata }: KubeObject, tenant: Tenant): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === tenant.metadata.uid) === true;
}

export function claimNameOf(claimed: Claimed, tenant: string): string {
  return `plugin-${claimed}-of-${tenant}`;
}

function partOf(claimed: Claimed): string {
  return `tenant-${claimed}`;
}

function finalizerOf(claimed: Claimed): string {
  return `plugins.tenantry.dev/${partOf(claimed)}`;
}

function claimOf(claimed: Claimed, { metadata: { name, uid } }: Tenant): KubeObject {
  const owner = { apiVersion: apiVersionOf(TenantKind), kind: TenantKind.kind, name: name!, uid: uid! };
  const labels = { [MANAGED_LABEL]: partOf(claimed) };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: claimNameOf(claimed, name!), labels, ownerReferences: [owner], finalizers: [finalizerOf(claimed)] },
    data: { tenant: name! },
  };
}

export function tenantOfClaim({ data }: KubeObject): string {
  return (data as { tenant: string }).tenant;
}
