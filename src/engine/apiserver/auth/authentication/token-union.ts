import type { ObjectReader } from '../../registry/objects.ts';
import { aggregate } from '../rbac/rbac-authorizer.ts';
import type { UserInfo } from '../user.ts';
import { CORE, type Dependency, type TokenAuthenticator, type TokenIdentity } from './token-authenticator.ts';

/** Checking a signature costs a hundred times a look into the table. Objects that change empty their entries at once; time covers the rest. */
const CACHE_TTL_MS = 10_000;
const CACHE_SIZE = 4096;

interface Entry {
  identity: TokenIdentity;
  until: number;
}

export interface TokenUnionOptions {
  reader: ObjectReader;
  authenticators: readonly TokenAuthenticator[];
  apiAudiences: readonly string[];
  now(): number;
}

/** All kinds of bearer tokens, the first that knows one decides. Tokens for the API server itself are remembered for a moment. */
export class TokenUnion {
  readonly #options: TokenUnionOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #tokensByUid = new Map<string, Set<string>>();
  readonly #followed = new Set<Dependency['resource']>();

  constructor(options: TokenUnionOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** @throws Error that says why the token is refused; `invalid bearer token` when nobody knows it. */
  authenticate(token: string): UserInfo {
    const known = this.#entries.get(token);
    const now = this.#options.now();
    if (known && now < known.until) return known.identity.user;
    const identity = this.review(token, this.#options.apiAudiences);
    this.#remember(token, identity, now);
    return identity.user;
  }

  /** For any audience, never from the cache: a review must be exact. */
  review(token: string, audiences: readonly string[]): TokenIdentity {
    // kube-apiserver asks the authenticator of its loopback token first, so that its words come before all others.
    const errors = ['invalid bearer token'];
    for (const authenticator of this.#options.authenticators) {
      try {
        const identity = authenticator.authenticate(token, audiences);
        if (identity) return identity;
      } catch (error) {
        errors.push((error as Error).message);
      }
    }
    throw new Error(aggregate(errors));
  }

  #remember(token: string, identity: TokenIdentity, now: number): void {
    if (this.#entries.size >= CACHE_SIZE) this.#dropOldest();
    this.#drop(token);
    Object.freeze(identity.user);
    this.#entries.set(token, { identity, until: Math.min(now + CACHE_TTL_MS, identity.expires ?? Infinity) });
    for (const { resource, uid } of identity.dependsOn) {
      this.#follow(resource);
      const tokens = this.#tokensByUid.get(uid);
      if (tokens) tokens.add(token);
      else this.#tokensByUid.set(uid, new Set([token]));
    }
  }

  /** From the first token that depends on such an object: nobody pays for every change of every Pod before. */
  #follow(resource: Dependency['resource']): void {
    if (this.#followed.has(resource)) return;
    this.#followed.add(resource);
    this.#options.reader.onChange(CORE[resource], ({ object, previous }) => {
      this.#forget(object.metadata.uid!);
      if (previous) this.#forget(previous.metadata.uid!);
    });
  }

  #dropOldest(): void {
    for (const token of this.#entries.keys()) {
      this.#drop(token);
      return;
    }
  }

  #drop(token: string): void {
    const entry = this.#entries.get(token);
    if (!entry) return;
    this.#entries.delete(token);
    for (const { uid } of entry.identity.dependsOn) {
      const tokens = this.#tokensByUid.get(uid);
      tokens?.delete(token);
      if (tokens?.size === 0) this.#tokensByUid.delete(uid);
    }
  }

  #forget(uid: string): void {
    for (const token of this.#tokensByUid.get(uid) ?? []) this.#drop(token);
  }
}
