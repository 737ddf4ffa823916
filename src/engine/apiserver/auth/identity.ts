import type { KeyObject } from 'node:crypto';
import type { ObjectReader } from '../registry/objects.ts';
import { RequestAuthenticator } from './authentication/authenticator.ts';
import { BootstrapTokenAuthenticator } from './authentication/bootstrap-token.ts';
import { verificationKey, type VerificationKey } from './authentication/json-web-token.ts';
import { LegacyTokenAuthenticator } from './authentication/legacy-token.ts';
import type { TokenAuthenticator } from './authentication/token-authenticator.ts';
import { BoundTokenAuthenticator } from './authentication/service-account-token.ts';
import { TokenUnion } from './authentication/token-union.ts';
import { TokenIssuer } from './token-issuer.ts';

export const DEFAULT_ISSUER = 'https://kubernetes.default.svc.cluster.local';

export interface IdentityOptions {
  reader: ObjectReader;
  /** Signs new tokens; old ones are checked with it too. */
  signingKey: KeyObject;
  /** More public keys that tokens may be signed with: the former one, while its tokens run out. */
  verificationKeys?: readonly KeyObject[];
  issuer?: string;
  /** The issuer unless given, as in kube-apiserver. */
  apiAudiences?: readonly string[];
  frontProxyNames: readonly string[];
  /** More kinds of bearer tokens than Kubernetes' own. */
  moreTokens?: readonly TokenAuthenticator[];
  now(): number;
  newUid(): string;
  onRefused?(reason: string): void;
}

/** Everything that knows who someone is, wired together. */
export interface Identity {
  authenticator: RequestAuthenticator;
  tokens: TokenUnion;
  issuer: TokenIssuer;
  issuerUrl: string;
  keys: readonly VerificationKey[];
  apiAudiences: readonly string[];
}

export function createIdentity(options: IdentityOptions): Identity {
  const { reader, signingKey } = options;
  const now = (): number => options.now();
  const issuerUrl = options.issuer ?? DEFAULT_ISSUER;
  const apiAudiences = options.apiAudiences ?? [issuerUrl];
  const keys = [signingKey, ...(options.verificationKeys ?? [])].map(verificationKey);
  const tokens = new TokenUnion({
    reader,
    apiAudiences,
    now,
    authenticators: [
      new LegacyTokenAuthenticator({ reader, keys, apiAudiences }),
      new BoundTokenAuthenticator({ reader, keys, issuer: issuerUrl, apiAudiences, now }),
      new BootstrapTokenAuthenticator({ reader, apiAudiences, now }),
      ...(options.moreTokens ?? []),
    ],
  });
  const onRefused = (reason: string): void => options.onRefused?.(reason);
  return {
    authenticator: new RequestAuthenticator({ tokens, frontProxyNames: options.frontProxyNames, now, onRefused }),
    tokens,
    issuer: new TokenIssuer({ issuer: issuerUrl, key: signingKey, now, newUid: () => options.newUid() }),
    issuerUrl,
    keys,
    apiAudiences,
  };
}
