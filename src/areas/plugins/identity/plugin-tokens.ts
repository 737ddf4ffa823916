import { Secret, ServiceAccount } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { PLATFORM_NAMESPACE, TOKEN_JWKS } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { labelsOf, type Target } from '../installation/model/target.ts';
import type { PluginObjects } from '../installation/plugin-objects.ts';
import { claimsOf, keyIdOf, remainingMs, signToken } from './plugin-token.ts';
import type { TokenKeys } from './token-keys.ts';

export const TOKEN_SECRET = 'plugin-token';
export const ACCOUNT = 'plugin';

/** Who a plugin is: an account without rights, and a token that is always fresh. */
export class PluginTokens {
  readonly #objects: Pick<PluginObjects, 'find' | 'keep'>;
  readonly #keys: TokenKeys;
  readonly #jwks: Informer;

  constructor(objects: Pick<PluginObjects, 'find' | 'keep'>, keys: TokenKeys, jwks: Informer) {
    this.#objects = objects;
    this.#keys = keys;
    this.#jwks = jwks;
  }

  async ensureAccount(target: Target): Promise<void> {
    const metadata = { name: ACCOUNT, labels: labelsOf(target, 'identity') };
    const account: KubeObject = { apiVersion: 'v1', kind: 'ServiceAccount', metadata, automountServiceAccountToken: false };
    await this.#objects.keep(ServiceAccount, target.namespace, 'identity', [account]);
  }

  /** The token in the namespace is good for a while. @returns when it has to be replaced, in milliseconds from now */
  async ensure(target: Target, session: string, now: number): Promise<number> {
    await this.#keys.publish(this.#jwks.find(PLATFORM_NAMESPACE, TOKEN_JWKS));
    const claims = claimsOf(target, session);
    const present = this.#tokenIn(target.namespace);
    const remaining = present === undefined ? 0 : remainingMs(present, claims, now);
    if (remaining > 0 && (await this.#keys.has(keyIdOf(present!)))) return remaining;
    const token = await signToken(claims, await this.#keys.signing(), now);
    const metadata = { name: TOKEN_SECRET, labels: labelsOf(target, 'identity') };
    const data = { token: Buffer.from(token).toString('base64') };
    await this.#objects.keep(Secret, target.namespace, 'identity', [{ apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data }]);
    return remainingMs(token, claims, now);
  }

  /** There is none any more. */
  async remove({ namespace }: Target): Promise<void> {
    await this.#objects.keep(Secret, namespace, 'identity', []);
  }

  #tokenIn(namespace: string): string | undefined {
    const encoded = this.#objects.find<KubeObject>(Secret, namespace, TOKEN_SECRET)?.data?.token as string | undefined;
    return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString();
  }
}
