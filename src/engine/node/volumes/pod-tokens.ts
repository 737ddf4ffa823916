import type { Client } from '../../../client/client.ts';
import { ServiceAccount } from '../../../client/kinds.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import type { Random } from '../../../lib/backoff.ts';
import type { Clock } from '../../../lib/clock.ts';

const DAY_MS = 24 * 3_600_000;
const MAX_JITTER_MS = 10_000;
/** A renewal that failed is tried again after this: the old token is good for a fifth of its life still. */
const RETRY_MS = 30_000;

interface Token {
  text: string;
  renewAt: number;
  expiresAt: number;
}

export interface TokenSource {
  path: string;
  audience?: string;
  expirationSeconds?: number;
}

/** The tokens of one Pod, each kept until four fifths of its life or a day have passed. */
export class PodTokens {
  #client: Client;
  #clock: Clock;
  #random: Random;
  #tokens = new Map<string, Token>();

  constructor(options: { client: Client; clock: Clock; random?: Random }) {
    this.#client = options.client;
    this.#clock = options.clock;
    this.#random = options.random ?? Math.random;
  }

  /** When the next of them is to be renewed. */
  get nextRenewal(): number | undefined {
    const times = [...this.#tokens.values()].map(({ renewAt }) => renewAt);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** @throws Error in Kubernetes' words when there is none and the old one, if any, has expired */
  async tokenFor(pod: KubeObject, source: TokenSource): Promise<string> {
    const key = JSON.stringify([source.audience, source.expirationSeconds]);
    const known = this.#tokens.get(key);
    if (known && this.#clock.now() < known.renewAt) return known.text;
    try {
      const token = await this.#request(pod, source);
      this.#tokens.set(key, token);
      return token.text;
    } catch (error) {
      const text = (error as Error).message;
      if (!known) throw new Error(`failed to fetch token: ${text}`, { cause: error });
      if (this.#clock.now() > known.expiresAt) throw new Error(`token ${key} expired and refresh failed: ${text}`, { cause: error });
      this.#tokens.set(key, { ...known, renewAt: this.#clock.now() + RETRY_MS });
      return known.text;
    }
  }

  async #request({ metadata, spec }: KubeObject, { audience, expirationSeconds }: TokenSource): Promise<Token> {
    const request: Json = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: {},
      spec: {
        audiences: audience ? [audience] : [],
        expirationSeconds,
        // The token dies with the Pod.
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: metadata.name, uid: metadata.uid },
      },
    };
    const account: string = spec?.serviceAccountName || 'default';
    const answer = await this.#client
      .resource(ServiceAccount, metadata.namespace)
      .subresource<KubeObject>('token')
      .create(account, request as KubeObject);
    return this.#kept(answer);
  }

  #kept({ spec, status }: KubeObject): Token {
    const expiresAt = Date.parse(status.expirationTimestamp);
    const lifeMs = spec.expirationSeconds * 1000;
    const jitter = this.#random() * MAX_JITTER_MS;
    const renewAt = Math.min(expiresAt - lifeMs + DAY_MS, expiresAt - lifeMs * 0.2) - jitter;
    // A server whose clock is wrong must not be asked all the time.
    return { text: status.token, renewAt: Math.max(renewAt, this.#clock.now() + RETRY_MS), expiresAt };
  }
}
