import { failure, type StatusError } from '../../../../kube/status.ts';
import type { Authenticator, Credentials, UserInfo } from '../user.ts';
import { ClientCertificateAuthenticator } from './client-certificate.ts';
import { authenticateFrontProxy } from './front-proxy.ts';
import type { TokenUnion } from './token-union.ts';
import { webSocketToken } from './web-socket-token.ts';

export interface AuthenticatorOptions {
  tokens: Pick<TokenUnion, 'authenticate'>;
  /** Common names of front proxies that are believed; every certificate of their authority when empty. */
  frontProxyNames: readonly string[];
  now(): number;
  /** Told why a credential was refused; the client learns only that it was. */
  onRefused?(reason: string): void;
}

/**
 * Front proxy, then client certificate, then bearer token. The first that recognises the client decides; a credential that is
 * refused only matters when no other one is accepted. Synchronous, because everything it asks is in memory.
 */
export class RequestAuthenticator implements Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #certificates: ClientCertificateAuthenticator;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.#certificates = new ClientCertificateAuthenticator(() => options.now());
  }

  authenticate(credentials: Credentials): UserInfo | undefined {
    const { certificate, frontProxyCommonName, badCertificate } = credentials;
    const errors: string[] = [];
    const attempt = (authenticate: () => UserInfo | undefined): UserInfo | undefined => {
      try {
        return authenticate();
      } catch (error) {
        errors.push((error as Error).message);
        return undefined;
      }
    };
    if (badCertificate !== undefined) errors.push(badCertificate);
    let user: UserInfo | undefined;
    if (frontProxyCommonName !== undefined) {
      user = attempt(() => authenticateFrontProxy(credentials, this.#options.frontProxyNames));
      // A proxy speaks for others; its certificate is no identity of its own.
      if (!user) errors.push('x509: certificate signed by unknown authority');
    }
    if (!user && certificate) user = attempt(() => this.#certificates.authenticate(certificate));
    if (!user) user = attempt(() => this.#byToken(credentials));
    if (user || errors.length === 0) return user;
    this.#options.onRefused?.(errors.join(', '));
    throw unauthorized();
  }

  #byToken({ authorization, headers }: Credentials): UserInfo | undefined {
    const token = bearerToken(authorization) ?? webSocketToken(headers);
    return token === undefined ? undefined : this.#options.tokens.authenticate(token);
  }
}

export function unauthorized(): StatusError {
  return failure('Unauthorized', 'Unauthorized');
}

/** Undefined for other schemes and for an empty token: then nothing was claimed. */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const [scheme, token] = authorization.trim().split(' ', 3);
  return scheme.toLowerCase() === 'bearer' && token ? token : undefined;
}
