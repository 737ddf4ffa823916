import type { KeyObject } from 'node:crypto';
import type { KubeObject } from '../../../kube/object.ts';
import { signToken } from './authentication/json-web-token.ts';
import { legacyClaims } from './authentication/legacy-token.ts';
import { serviceAccountUserName } from './authentication/service-account-identity.ts';
import type { BoundClaims } from './authentication/service-account-token.ts';

/** The objects that a token can be tied to; at most one of pod and secret. */
export interface TokenBinding {
  pod?: KubeObject;
  secret?: KubeObject;
  /** For a pod's token it may be a name alone, when the Node object is not there. */
  node?: { name: string; uid?: string };
}

export interface TokenWish {
  account: KubeObject;
  audiences: readonly string[];
  expirationSeconds: number;
  /** Seconds after which use of the token is noted as stale. */
  warnAfterSeconds?: number;
  bound?: TokenBinding;
}

export interface IssuedToken {
  token: string;
  credentialId: string;
}

/** Signs tokens of ServiceAccounts. */
export class TokenIssuer {
  readonly #issuer: string;
  readonly #key: KeyObject;
  readonly #now: () => number;
  readonly #newUid: () => string;

  constructor(options: { issuer: string; key: KeyObject; now: () => number; newUid: () => string }) {
    this.#issuer = options.issuer;
    this.#key = options.key;
    this.#now = options.now;
    this.#newUid = options.newUid;
  }

  issue(wish: TokenWish): IssuedToken {
    const { account, audiences, expirationSeconds, warnAfterSeconds, bound = {} } = wish;
    const { namespace = '', name = '', uid = '' } = account.metadata;
    const now = Math.floor(this.#now() / 1000);
    const jti = this.#newUid();
    const binding: BoundClaims['kubernetes.io'] = { namespace, serviceaccount: { name, uid } };
    if (bound.node) binding.node = bound.node.uid ? { name: bound.node.name, uid: bound.node.uid } : { name: bound.node.name };
    if (bound.pod) binding.pod = reference(bound.pod);
    if (bound.secret) binding.secret = reference(bound.secret);
    if (warnAfterSeconds !== undefined) binding.warnafter = now + warnAfterSeconds;
    const claims: BoundClaims = {
      aud: [...audiences],
      exp: now + expirationSeconds,
      iat: now,
      iss: this.#issuer,
      jti,
      'kubernetes.io': binding,
      nbf: now,
      sub: serviceAccountUserName(namespace, name),
    };
    return { token: signToken(claims, this.#key), credentialId: `JTI=${jti}` };
  }

  /** For Secrets of type kubernetes.io/service-account-token. */
  issueLegacy(account: KubeObject, secretName: string): string {
    return signToken(legacyClaims(account, secretName), this.#key);
  }
}

function reference({ metadata }: KubeObject): { name: string; uid: string } {
  return { name: metadata.name!, uid: metadata.uid! };
}
