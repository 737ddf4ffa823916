import type { KubeObject } from '../../../../kube/object.ts';
import type { ObjectReader } from '../../registry/objects.ts';
import { checkSignature, parseToken, type VerificationKey } from './json-web-token.ts';
import { serviceAccountUser } from './service-account-identity.ts';
import { CORE, intersect, quotedList, type Dependency, type TokenAuthenticator, type TokenIdentity } from './token-authenticator.ts';

interface ObjectRef {
  name: string;
  uid: string;
}

/** The claims of a token that is bound to a ServiceAccount and possibly to one of its objects. */
export interface BoundClaims {
  iss: string;
  sub: string;
  aud: string[];
  exp: number;
  nbf: number;
  iat: number;
  jti: string;
  'kubernetes.io': {
    namespace: string;
    serviceaccount: ObjectRef;
    pod?: ObjectRef;
    secret?: ObjectRef;
    node?: { name: string; uid?: string };
    warnafter?: number;
  };
}

export interface BoundTokenOptions {
  reader: ObjectReader;
  keys: readonly VerificationKey[];
  issuer: string;
  /** What the API server answers to when a request or a token names no audience. */
  apiAudiences: readonly string[];
  now(): number;
}

/** Clocks may disagree by this much, as in Kubernetes. */
const LEEWAY_MS = 60_000;

/** Tokens from TokenRequest. They are worth something as long as everything they are bound to exists. */
export class BoundTokenAuthenticator implements TokenAuthenticator {
  readonly #options: BoundTokenOptions;

  constructor(options: BoundTokenOptions) {
    this.#options = options;
  }

  authenticate(text: string, requested: readonly string[]): TokenIdentity | undefined {
    const token = parseToken(text);
    if (token?.claims.iss !== this.#options.issuer) return undefined;
    checkSignature(token, this.#options.keys);
    const claims = token.claims as BoundClaims;
    const own: string[] = claims.aud === undefined ? [...this.#options.apiAudiences] : [claims.aud].flat();
    const audiences = intersect(own, requested);
    if (audiences.length === 0) {
      throw new Error(`token audiences ${quotedList(own)} is invalid for the target audiences ${quotedList(requested)}`);
    }
    this.#checkTimes(claims);
    const bound = this.#checkObjects(claims);
    const { namespace, serviceaccount, pod, node } = claims['kubernetes.io'];
    const credentialId = claims.jti ? `JTI=${claims.jti}` : undefined;
    const user = serviceAccountUser({ namespace, name: serviceaccount.name, uid: serviceaccount.uid, pod, node, credentialId });
    return { user, audiences, expires: claims.exp * 1000, dependsOn: bound };
  }

  #checkTimes({ exp, nbf, iat }: BoundClaims): void {
    const now = this.#options.now();
    if (nbf !== undefined && now + LEEWAY_MS < nbf * 1000) throw new Error('service account token is not valid yet');
    if (exp !== undefined && now - LEEWAY_MS > exp * 1000) throw new Error('service account token has expired');
    if (iat !== undefined && now + LEEWAY_MS < iat * 1000) throw new Error('service account token is issued in the future');
  }

  #checkObjects(claims: BoundClaims): Dependency[] {
    const { namespace, serviceaccount, secret, pod, node } = claims['kubernetes.io'] ?? {};
    const { reader } = this.#options;
    const account = reader.get(CORE.serviceAccounts, namespace ?? '', serviceaccount?.name ?? '');
    if (!account) throw new Error(`serviceaccounts "${serviceaccount?.name ?? ''}" not found`);
    if (account.metadata.uid !== serviceaccount.uid) {
      throw new Error(`service account UID (${account.metadata.uid}) does not match claim (${serviceaccount.uid})`);
    }
    if (this.#isGone(account)) throw new Error(`service account ${namespace}/${serviceaccount.name} has been deleted`);
    const dependencies: Dependency[] = [{ resource: 'serviceAccounts', uid: serviceaccount.uid }];
    if (secret) dependencies.push(this.#checkBound('secret', namespace, secret));
    if (pod) dependencies.push(this.#checkBound('pod', namespace, pod));
    // Beside a pod the node is information; alone it is what the token is bound to.
    else if (node) dependencies.push(this.#checkBound('node', '', { name: node.name, uid: node.uid ?? '' }));
    return dependencies;
  }

  #checkBound(kind: 'secret' | 'pod' | 'node', namespace: string, ref: ObjectRef): Dependency {
    const resource = `${kind}s` as const;
    const object = this.#options.reader.get(CORE[resource], namespace, ref.name);
    if (!object) throw new Error('service account token has been invalidated');
    const { uid } = object.metadata;
    if (uid !== ref.uid) throw new Error(`${kind} UID (${uid}) does not match service account ${kind} ref claim (${ref.uid})`);
    if (this.#isGone(object)) throw new Error('service account token has been invalidated');
    return { resource, uid: ref.uid };
  }

  #isGone(object: KubeObject): boolean {
    const { deletionTimestamp } = object.metadata;
    return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) < this.#options.now() - LEEWAY_MS;
  }
}
