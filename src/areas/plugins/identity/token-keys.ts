import { exportJWK, generateKeyPair, importJWK, type CryptoKey, type JWK } from 'jose';
import { PLATFORM_NAMESPACE, TOKEN_JWKS, TOKEN_KEYS } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { Client } from '../../../client/client.ts';
import { ConfigMap, Namespace, Secret } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { formatTime } from '../../../kube/time.ts';
import { randomSuffix } from '../../../lib/ids.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { FIELD_MANAGER } from '../installation/plugin-objects.ts';

export const ALGORITHM = 'ES256';

export interface SigningKey {
  id: string;
  key: CryptoKey;
}

/** A private key as it is kept; `created` says which is the newest. */
interface KeptKey extends JWK {
  kid: string;
  created: string;
}

/** The keys that sign the tokens of plugins: made once, kept in a Secret, their public halves in a ConfigMap. Each entry more is a key more. */
export class TokenKeys {
  readonly #client: Client;
  readonly #secrets: Informer;
  #current: { id: string; signing: Promise<SigningKey> } | undefined;
  #creating: Promise<KubeObject> | undefined;

  /** `secrets`: the one Secret, once it is there. */
  constructor(client: Client, secrets: Informer) {
    this.#client = client;
    this.#secrets = secrets;
  }

  /** The newest key. */
  async signing(): Promise<SigningKey> {
    const newest = (await this.#kept()).at(-1)!;
    if (this.#current?.id !== newest.kid) {
      const signing = importJWK(newest, ALGORITHM).then((key) => ({ id: newest.kid, key: key as CryptoKey }));
      this.#current = { id: newest.kid, signing };
    }
    return this.#current.signing;
  }

  /** Whether tokens signed with it are still good. */
  async has(id: string | undefined): Promise<boolean> {
    return (await this.#kept()).some(({ kid }) => kid === id);
  }

  /** The ConfigMap that verifiers read says what the Secret says. */
  async publish(published: KubeObject | undefined): Promise<void> {
    const keys = (await this.#kept()).map(({ kty, crv, x, y, kid }) => ({ kty, crv, x, y, kid, alg: ALGORITHM, use: 'sig' }));
    const data = { 'jwks.json': JSON.stringify({ keys }) };
    if (published?.data?.['jwks.json'] === data['jwks.json']) return;
    const metadata = { name: TOKEN_JWKS, namespace: PLATFORM_NAMESPACE };
    await this.#client.resource(ConfigMap, PLATFORM_NAMESPACE).apply({ metadata, data }, { fieldManager: FIELD_MANAGER, force: true });
  }

  /** The oldest first. */
  async #kept(): Promise<KeptKey[]> {
    const secret = this.#secrets.find(PLATFORM_NAMESPACE, TOKEN_KEYS) ?? (await this.#read()) ?? (await this.#createOnce());
    const keys = Object.values((secret.data ?? {}) as Record<string, string>).map(parseKey);
    if (keys.length === 0)
      throw new Error(`Cannot sign tokens: the Secret ${PLATFORM_NAMESPACE}/${TOKEN_KEYS} is empty; delete it to have a new key`);
    return keys.sort((a, b) => a.created.localeCompare(b.created));
  }

  async #read(): Promise<KubeObject | undefined> {
    try {
      return await this.#client.resource<KubeObject>(Secret, PLATFORM_NAMESPACE).get(TOKEN_KEYS);
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  /** Those who come at once share it. */
  #createOnce(): Promise<KubeObject> {
    this.#creating ??= this.#create().finally(() => (this.#creating = undefined));
    return this.#creating;
  }

  async #create(): Promise<KubeObject> {
    const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
    const id = `key-${randomSuffix(8)}`;
    const kept: KeptKey = { ...(await exportJWK(privateKey)), kid: id, created: formatTime(new Date(this.#client.clock.now())) };
    const data = { [id]: Buffer.from(JSON.stringify(kept)).toString('base64') };
    await this.#ensureNamespace();
    try {
      const metadata = { name: TOKEN_KEYS, namespace: PLATFORM_NAMESPACE };
      return await this.#client.resource<KubeObject>(Secret, PLATFORM_NAMESPACE).create({ metadata, data });
    } catch (error) {
      // Another worker made one first: that is the key.
      const existing = isStatusError(error, 'AlreadyExists') ? await this.#read() : undefined;
      if (!existing) throw error;
      return existing;
    }
  }

  async #ensureNamespace(): Promise<void> {
    try {
      await this.#client.resource(Namespace).create({ metadata: { name: PLATFORM_NAMESPACE } });
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error;
    }
  }
}

function parseKey(encoded: string): KeptKey {
  return JSON.parse(Buffer.from(encoded, 'base64').toString()) as KeptKey;
}
