import type { Json, KubeObject } from '../../../../kube/object.ts';
import { notFoundError } from '../../../../kube/status.ts';
import type { ObjectReader } from '../../registry/objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts';
import { isOn, refusal } from '../refusal.ts';
import { disallowedInContainers, disallowedReference, referencesSecrets } from './secret-references.ts';
import { mountTokenVolume } from './token-volume.ts';

const SERVICE_ACCOUNTS = { group: '', resource: 'serviceaccounts' };
const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
const ENFORCE_ANNOTATION = 'kubernetes.io/enforce-mountable-secrets';
const TRUE_WORDS = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);

export interface ServiceAccountOptions {
  reader: ObjectReader;
  /** Five characters for the volume's name. */
  randomSuffix: () => string;
  /** How long a pod waits for the `default` account of a namespace that was made a moment ago. */
  defaultAccountPatience?: number;
}

/** Binds pods to a service account of their namespace and mounts its token. */
export function serviceAccount(options: ServiceAccountOptions): AdmissionPlugin {
  const { reader, randomSuffix } = options;

  function bind(request: AdmissionRequest, account: KubeObject): void {
    const spec: Json = request.object!.spec;
    if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) mountTokenVolume(spec, randomSuffix);
    if (!spec.imagePullSecrets?.length && account.imagePullSecrets?.length) {
      spec.imagePullSecrets = account.imagePullSecrets.map((reference: Json) => ({ name: reference.name }));
    }
  }

  return {
    name: 'ServiceAccount',
    handles: (request) =>
      isOn(request, '', 'pods') &&
      (request.operation === 'CREATE' ? request.subresource === '' : request.subresource === 'ephemeralcontainers') &&
      request.object?.spec !== undefined,
    mutate(request) {
      if (request.operation !== 'CREATE') return;
      if (isMirror(request.object!)) return refuseMirrorReferences(request);
      const spec: Json = request.object!.spec;
      spec.serviceAccountName ||= 'default';
      // The field's old name is kept in step, as kube-apiserver shows both.
      spec.serviceAccount = spec.serviceAccountName;
      const account = reader.get(SERVICE_ACCOUNTS, request.namespace, spec.serviceAccountName);
      if (account) return bind(request, account);
      if (spec.serviceAccountName !== 'default') throw missingAccount(request);
      return appearance(reader, request, options.defaultAccountPatience ?? 1500).then((found) => bind(request, found));
    },
    validate(request) {
      const spec: Json = request.object!.spec;
      if (request.operation === 'CREATE' && isMirror(request.object!)) return refuseMirrorReferences(request);
      if (!spec.serviceAccountName) {
        throw refusal(request, `no service account specified for pod ${request.namespace}/${request.object!.metadata.name ?? ''}`);
      }
      const account = reader.get(SERVICE_ACCOUNTS, request.namespace, spec.serviceAccountName);
      if (!account) throw missingAccount(request);
      if (!TRUE_WORDS.has(account.metadata.annotations?.[ENFORCE_ANNOTATION] ?? '')) return;
      const refused =
        request.operation === 'CREATE'
          ? disallowedReference(account, spec)
          : disallowedInContainers(account, spec.ephemeralContainers, 'ephemeral container');
      if (refused) throw refusal(request, refused);
    },
  };
}

function isMirror(pod: KubeObject): boolean {
  return pod.metadata.annotations?.[MIRROR_ANNOTATION] !== undefined;
}

function refuseMirrorReferences(request: AdmissionRequest): void {
  const spec: Json = request.object!.spec;
  if (spec.serviceAccountName) throw refusal(request, 'a mirror pod may not reference service accounts');
  if (referencesSecrets(spec)) throw refusal(request, 'a mirror pod may not reference secrets');
  const projects = (volume: Json) => volume.projected?.sources?.some((source: Json) => source.serviceAccountToken);
  if (spec.volumes?.some(projects)) throw refusal(request, 'a mirror pod may not use ServiceAccountToken volume projections');
}

function missingAccount(request: AdmissionRequest): Error {
  const name: string = request.object!.spec.serviceAccountName;
  const missing = notFoundError({ group: '', resource: 'serviceaccount' }, name).message;
  return refusal(request, `error looking up service account ${request.namespace}/${name}: ${missing}`);
}

/** Resolves with the `default` account once its controller made it. Rejects as missing when that takes too long. */
function appearance(reader: ObjectReader, request: AdmissionRequest, patience: number): Promise<KubeObject> {
  return new Promise((resolve, reject) => {
    const finish = (account?: KubeObject) => {
      clearTimeout(timer);
      stop();
      request.signal.removeEventListener('abort', giveUp);
      if (account) resolve(account);
      else reject(missingAccount(request));
    };
    const giveUp = () => finish();
    const stop = reader.onChange(SERVICE_ACCOUNTS, ({ type, object }) => {
      const { name, namespace } = object.metadata;
      if (type !== 'DELETED' && name === 'default' && namespace === request.namespace) finish(object);
    });
    const timer = setTimeout(giveUp, patience);
    request.signal.addEventListener('abort', giveUp);
  });
}
