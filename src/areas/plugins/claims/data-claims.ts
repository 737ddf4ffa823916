import { PLATFORM_NAMESPACE } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { InstallationReason } from '../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import type { Client } from '../../../client/client.ts';
import { ConfigMap } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { stalled, waiting, type Outcome } from '../../../runtime/steps/outcome.ts';
import type { Target } from '../installation/model/target.ts';
import { FIELD_MANAGER } from '../installation/plugin-objects.ts';
import { claimNameOf, type TenantClaims } from './tenant-claims.ts';

/** What of a plugin outlives it unless it is removed with it. */
export type DataOf = 'database' | 'secrets';

/** Whose it is. */
export type DataOwner = Pick<Target, 'tenant' | 'plugin' | 'publisher'>;

/** No watch tells when what an earlier tenant had is gone. */
const TRY_AGAIN_MS = 5_000;

/**
 * Which publishers' plugins a tenant has data of, in the tenant's claim: names of schemas, roles and secrets have no publisher in them, so a
 * plugin of the same name by another one would find what the first left.
 */
export class DataClaims {
  readonly tenants: TenantClaims;
  readonly #client: Client;

  constructor(client: Client, tenants: TenantClaims) {
    this.#client = client;
    this.tenants = tenants;
  }

  /** Before there is any. @returns why it cannot be had */
  async claim(of: DataOf, { tenant, plugin, publisher }: DataOwner): Promise<Outcome | undefined> {
    if (!(await this.tenants.claim(tenant))) {
      const message = `waits until the data of an earlier tenant "${tenant}" are gone`;
      const { DatabaseUnavailable, SecretBackendUnavailable } = InstallationReason;
      return waiting(of === 'database' ? DatabaseUnavailable : SecretBackendUnavailable, message, TRY_AGAIN_MS);
    }
    if (publisherOf(this.tenants.find(tenant), of, plugin) === publisher) return undefined;
    const claims = this.#client.resource<KubeObject>(ConfigMap, PLATFORM_NAMESPACE);
    const claim = await claims.get(claimNameOf('data', tenant));
    const other = publisherOf(claim, of, plugin);
    if (other !== undefined && other !== publisher) return taken(of, plugin, publisher, other);
    if (other === undefined) await this.#write(claim, { [keyOf(of, plugin)]: publisher });
    return undefined;
  }

  has(of: DataOf, { tenant, plugin, publisher }: DataOwner): boolean {
    return publisherOf(this.tenants.find(tenant), of, plugin) === publisher;
  }

  /** It is that of another publisher's plugin of the same name. */
  isOthers(of: DataOf, { tenant, plugin, publisher }: DataOwner): boolean {
    const owner = publisherOf(this.tenants.find(tenant), of, plugin);
    return owner !== undefined && owner !== publisher;
  }

  /** Nothing is left of it. */
  async release(of: DataOf, owner: DataOwner): Promise<void> {
    const { tenant, plugin } = owner;
    const claim = this.tenants.find(tenant);
    if (claim && this.has(of, owner)) await this.#write(claim, { [keyOf(of, plugin)]: null });
  }

  async #write({ metadata }: KubeObject, data: Record<string, string | null>): Promise<void> {
    const patch = { metadata: { uid: metadata.uid }, data };
    try {
      await this.#client
        .resource<KubeObject>(ConfigMap, PLATFORM_NAMESPACE)
        .patch(metadata.name!, { type: 'merge', patch }, { fieldManager: FIELD_MANAGER });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }
}

/** The plugins that have this kind of data by a tenant's claim. */
export function pluginsWith(of: DataOf, { data = {} }: KubeObject): string[] {
  const prefix = keyOf(of, '');
  return Object.keys(data as object)
    .filter((key) => key.startsWith(prefix))
    .map((key) => key.slice(prefix.length));
}

function publisherOf(claim: KubeObject | undefined, of: DataOf, plugin: string): string | undefined {
  return (claim?.data as Record<string, string> | undefined)?.[keyOf(of, plugin)];
}

/** No name of a plugin has a dot. */
function keyOf(of: DataOf, plugin: string): string {
  return `${of}.${plugin}`;
}

function taken(of: DataOf, plugin: string, publisher: string, other: string): Outcome {
  const what = of === 'database' ? 'the database' : 'secrets';
  const state = `the tenant still has ${what} of "${plugin}" by "${other}"`;
  const how = `uninstall this one, install that of "${other}" again, and uninstall it with --delete-data`;
  return stalled(InstallationReason.NameTaken, `Cannot install "${plugin}" by "${publisher}": ${state}; to have them removed, ${how}`);
}
