import { invalid, type FieldError } from '../../../kube/field-error.ts';
import { quote } from '../../../kube/go-text.ts';
import { parseApiVersion, type GroupResource, type KubeObject } from '../../../kube/object.ts';
import { badRequestError, conflictError, invalidError, notFoundError } from '../../../kube/status.ts';
import type { ObjectReader } from '../registry/objects.ts';
import { CORE } from './authentication/token-authenticator.ts';
import type { TokenBinding, TokenIssuer } from './token-issuer.ts';

export interface TokenRequestContext {
  namespace: string;
  /** Of the ServiceAccount, from the path. */
  name: string;
  reader: ObjectReader;
  issuer: TokenIssuer;
  apiAudiences: readonly string[];
  now(): number;
  annotate?(key: string, value: string): void;
}

const KIND = { group: 'authentication.k8s.io', kind: 'TokenRequest' };
const DEFAULT_SECONDS = 3600;
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;
/** What the kubelet asks for by default: such a token outlives its hour, so that old clients that never reload it keep working. */
const EXTENDED_WHEN_SECONDS = 3607;
const EXTENDED_SECONDS = 365 * 24 * 3600;

/** serviceaccounts/token: a signed token for the account, in the status of what was asked. @throws StatusError */
export function answerTokenRequest(request: KubeObject, context: TokenRequestContext): KubeObject {
  const { namespace, name, reader } = context;
  const { metadata } = request;
  checkSameName(metadata, context);
  const account = reader.get(CORE.serviceAccounts, namespace, name);
  if (!account) throw notFoundError(CORE.serviceAccounts, name);
  if (metadata?.uid && metadata.uid !== account.metadata.uid) {
    const text = `the UID in the token request (${metadata.uid}) does not match the UID of the service account (${account.metadata.uid})`;
    throw conflictError({ group: KIND.group, resource: KIND.kind }, name, text);
  }
  const spec = { ...request.spec };
  if (!spec.audiences?.length) spec.audiences = [...context.apiAudiences];
  spec.expirationSeconds ??= DEFAULT_SECONDS;
  const findings = checkExpiration(spec.expirationSeconds);
  if (findings.length > 0) throw invalidError(KIND, '', findings);
  const bound = spec.boundObjectRef ? findBound(spec.boundObjectRef, context) : {};
  const issued = context.issuer.issue({ account, audiences: spec.audiences, bound, ...lifetime(spec, bound, context) });
  context.annotate?.('authentication.kubernetes.io/issued-credential-id', issued.credentialId);
  const now = context.now();
  return {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { ...metadata, name, namespace, uid: account.metadata.uid, creationTimestamp: time(now) },
    spec: { audiences: spec.audiences, expirationSeconds: spec.expirationSeconds, boundObjectRef: spec.boundObjectRef ?? null },
    status: { token: issued.token, expirationTimestamp: time(now + spec.expirationSeconds * 1000) },
  };
}

const time = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

function checkSameName(metadata: KubeObject['metadata'] | undefined, { namespace, name }: TokenRequestContext): void {
  if (metadata?.name && metadata.name !== name) {
    throw invalidError(KIND, name, [invalid('metadata.name', metadata.name, 'must match the service account name if specified')]);
  }
  if (metadata?.namespace && metadata.namespace !== namespace) {
    throw badRequestError('the namespace of the provided object does not match the namespace sent on the request');
  }
}

function checkExpiration(seconds: number): FieldError[] {
  const field = 'spec.expirationSeconds';
  if (seconds < MIN_SECONDS) return [invalid(field, seconds, 'may not specify a duration less than 10 minutes')];
  if (seconds > MAX_SECONDS) return [invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds')];
  return [];
}

interface Lifetime {
  expirationSeconds: number;
  warnAfterSeconds?: number;
}

function lifetime(spec: { expirationSeconds: number; audiences: string[] }, bound: TokenBinding, context: TokenRequestContext): Lifetime {
  const { expirationSeconds, audiences } = spec;
  const isForUs = audiences.every((audience) => context.apiAudiences.includes(audience));
  if (bound.pod && expirationSeconds === EXTENDED_WHEN_SECONDS && isForUs) {
    return { expirationSeconds: EXTENDED_SECONDS, warnAfterSeconds: expirationSeconds };
  }
  return { expirationSeconds };
}

interface BoundObjectRef {
  apiVersion?: string;
  kind?: string;
  name?: string;
  uid?: string;
}

function findBound(ref: BoundObjectRef, context: TokenRequestContext): TokenBinding {
  const { group, version } = parseApiVersion(ref.apiVersion ?? '');
  const kind = ref.kind ?? '';
  switch (group === '' ? kind : '') {
    case 'Pod':
      return bindPod(ref, context);
    case 'Node': {
      const node = existing(CORE.nodes, '', ref, context.reader);
      return { node: { name: node.metadata.name!, uid: node.metadata.uid } };
    }
    case 'Secret':
      return { secret: existing(CORE.secrets, context.namespace, ref, context.reader) };
    default:
      throw badRequestError(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  }
}

function bindPod(ref: BoundObjectRef, { namespace, name, reader }: TokenRequestContext): TokenBinding {
  const present = reader.get(CORE.pods, namespace, ref.name ?? '');
  if (present && present.spec?.serviceAccountName !== name) {
    throw badRequestError(`cannot bind token for serviceaccount ${quote(name)} to pod running with different serviceaccount name.`);
  }
  const pod = existing(CORE.pods, namespace, ref, reader);
  const nodeName: string = pod.spec?.nodeName ?? '';
  if (nodeName === '') return { pod };
  return { pod, node: { name: nodeName, uid: reader.get(CORE.nodes, '', nodeName)?.metadata.uid } };
}

function existing(resource: GroupResource, namespace: string, ref: BoundObjectRef, reader: ObjectReader): KubeObject {
  const name = ref.name ?? '';
  const object = reader.get(resource, namespace, name);
  if (!object) throw notFoundError(resource, name);
  if (ref.uid && ref.uid !== object.metadata.uid) {
    const text = `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflictError({ group: '', resource: ref.kind ?? '' }, name, text);
  }
  return object;
}
