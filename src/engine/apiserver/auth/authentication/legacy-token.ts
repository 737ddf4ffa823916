import { timingSafeEqual } from 'node:crypto';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { ObjectReader } from '../../registry/objects.ts';
import { checkSignature, parseToken, type VerificationKey } from './json-web-token.ts';
import { serviceAccountUser, serviceAccountUserName, splitServiceAccountName } from './service-account-identity.ts';
import { CORE, intersect, quotedList, type Dependency, type TokenAuthenticator, type TokenIdentity } from './token-authenticator.ts';

export const LEGACY_ISSUER = 'kubernetes/serviceaccount';
const CLAIM = 'kubernetes.io/serviceaccount/';
const INVALID_SINCE_LABEL = 'kubernetes.io/legacy-token-invalid-since';

export interface LegacyTokenOptions {
  reader: ObjectReader;
  keys: readonly VerificationKey[];
  apiAudiences: readonly string[];
}

/** What the controller that fills Secrets of type kubernetes.io/service-account-token signs. */
export function legacyClaims(account: KubeObject, secretName: string): Json {
  const { namespace = '', name = '', uid } = account.metadata;
  return {
    iss: LEGACY_ISSUER,
    [`${CLAIM}namespace`]: namespace,
    [`${CLAIM}secret.name`]: secretName,
    [`${CLAIM}service-account.name`]: name,
    [`${CLAIM}service-account.uid`]: uid,
    sub: serviceAccountUserName(namespace, name),
  };
}

/** Tokens kept in Secrets: they never expire, and go with their Secret. */
export class LegacyTokenAuthenticator implements TokenAuthenticator {
  readonly #options: LegacyTokenOptions;

  constructor(options: LegacyTokenOptions) {
    this.#options = options;
  }

  authenticate(text: string, requested: readonly string[]): TokenIdentity | undefined {
    const token = parseToken(text);
    if (token?.claims.iss !== LEGACY_ISSUER) return undefined;
    checkSignature(token, this.#options.keys);
    const { apiAudiences } = this.#options;
    const audiences = intersect(apiAudiences, requested);
    if (audiences.length === 0) {
      throw new Error(`token audiences ${quotedList(apiAudiences)} is invalid for the target audiences ${quotedList(requested)}`);
    }
    const claims = readClaims(token.claims);
    const dependsOn = this.#checkObjects(text, claims);
    const user = serviceAccountUser({ namespace: claims.namespace, name: claims.name, uid: claims.uid });
    return { user, audiences, dependsOn };
  }

  #checkObjects(text: string, { namespace, secretName, name, uid }: LegacyClaims): Dependency[] {
    const { reader } = this.#options;
    const secret = reader.get(CORE.secrets, namespace, secretName);
    if (!secret || secret.metadata.deletionTimestamp !== undefined) throw new Error('Token has been invalidated');
    if (!isSame(Buffer.from(secret.data?.token ?? '', 'base64'), Buffer.from(text))) throw new Error("Token does not match server's copy");
    const account = reader.get(CORE.serviceAccounts, namespace, name);
    if (!account) throw new Error(`serviceaccounts "${name}" not found`);
    if (account.metadata.deletionTimestamp !== undefined) throw new Error(`ServiceAccount ${namespace}/${name} has been deleted`);
    if (account.metadata.uid !== uid) throw new Error(`ServiceAccount UID (${account.metadata.uid}) does not match claim (${uid})`);
    if (secret.metadata.labels?.[INVALID_SINCE_LABEL]) {
      throw new Error(
        `the token in secret ${namespace}/${secretName} for service account ${namespace}/${name} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '${INVALID_SINCE_LABEL}' label from the secret to temporarily allow use of this token`,
      );
    }
    return [
      { resource: 'serviceAccounts', uid },
      { resource: 'secrets', uid: secret.metadata.uid! },
    ];
  }
}

interface LegacyClaims {
  namespace: string;
  secretName: string;
  name: string;
  uid: string;
}

function readClaims(claims: Json): LegacyClaims {
  const required = (value: unknown, name: string): string => {
    if (typeof value !== 'string' || value === '') throw new Error(`${name} claim is missing`);
    return value;
  };
  const subject = required(claims.sub, 'sub');
  const namespace = required(claims[`${CLAIM}namespace`], 'namespace');
  const secretName = required(claims[`${CLAIM}secret.name`], 'secretName');
  const name = required(claims[`${CLAIM}service-account.name`], 'serviceAccountName');
  const uid = required(claims[`${CLAIM}service-account.uid`], 'serviceAccountUID');
  const named = splitServiceAccountName(subject);
  if (named?.namespace !== namespace || named.name !== name) throw new Error('sub claim is invalid');
  return { namespace, secretName, name, uid };
}

/** In the same time wherever the first difference is; lengths are no secret. */
export function isSame(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
