import { lstat } from 'node:fs/promises';
import { dirname, normalize } from 'node:path';
import type { Client } from '../../../client/client.ts';
import { PersistentVolume, PersistentVolumeClaim } from '../../../client/kinds.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { hasFinalizer, isControlledBy } from '../../../kube/ownership.ts';
import { makeOpenFolder } from './disk/open-folder.ts';
import { prepareHostPath, type HostPathPolicy } from './host-path-policy.ts';
import type { ReadyVolume } from './pod-state.ts';
import { isUsedAsDevice } from './model/pod-mounts.ts';

const PROTECTION = 'kubernetes.io/pvc-protection';

export interface ClaimDependencies {
  client: Client;
  hostPathPolicy: HostPathPolicy;
  /** Where this node keeps the volumes that it makes for claims. */
  volumeFolder: string | undefined;
  /** Folders on their way. */
  making: Map<string, Promise<void>>;
}

export interface ClaimedVolume extends ReadyVolume {
  /** Whether its files may be given to the group of the Pod. */
  mayBeGiven: boolean;
}

export function claimNameOf(pod: KubeObject, volume: Json): string {
  return volume.persistentVolumeClaim?.claimName ?? `${pod.metadata.name}-${volume.name}`;
}

/** The folder behind a claim, made if it is not there yet. @throws Error in Kubernetes' words when the claim cannot be used (yet) */
export async function openClaim(pod: KubeObject, volume: Json, dependencies: ClaimDependencies): Promise<ClaimedVolume> {
  const { namespace } = pod.metadata;
  const name = claimNameOf(pod, volume);
  const failed = (message: string, cause?: unknown): Error => new Error(`error processing PVC ${namespace}/${name}: ${message}`, { cause });
  const claim = await dependencies.client
    .resource<KubeObject>(PersistentVolumeClaim, namespace)
    .get(name)
    .catch((error: Error) => {
      throw failed(`failed to fetch PVC from API server: ${error.message}`, error);
    });
  const problem = problemOf(claim);
  if (problem) throw failed(problem);
  if (volume.ephemeral && !isControlledBy(claim, pod)) {
    throw new Error(`PVC ${namespace}/${name} was not created for pod ${namespace}/${pod.metadata.name} (pod is not owner)`);
  }
  const persistent = await boundVolume(claim, dependencies.client).catch((error: Error) => {
    throw failed(error.message, error);
  });
  checkMode(pod, volume, persistent);
  const readOnly = volume.persistentVolumeClaim?.readOnly === true;
  const own = ownPath(persistent, dependencies);
  // Like the kubelet: what is written as a path of the machine keeps its owners.
  const mayBeGiven = !readOnly && persistent.spec.hostPath === undefined;
  if (own !== undefined) return { path: await makeOnce(own, dependencies.making), readOnly, mayBeGiven };
  const locate = (): Promise<string> => foreignPath(persistent, dependencies.hostPathPolicy);
  return { path: await locate(), readOnly, locate, mayBeGiven };
}

function problemOf(claim: KubeObject): string | undefined {
  if (claim.metadata.deletionTimestamp !== undefined && !hasFinalizer(claim, PROTECTION)) return 'PVC is being deleted';
  if (claim.status?.phase !== 'Bound') return 'PVC is not bound';
  return claim.spec?.volumeName ? undefined : 'PVC has empty pvc.Spec.VolumeName';
}

async function boundVolume(claim: KubeObject, client: Client): Promise<KubeObject> {
  const name: string = claim.spec.volumeName;
  const volume = await client
    .resource<KubeObject>(PersistentVolume)
    .get(name)
    .catch((error: Error) => {
      throw new Error(`failed to fetch PV ${name} from API server: ${error.message}`, { cause: error });
    });
  const owner = volume.spec?.claimRef;
  if (!owner) throw new Error(`found PV object ${name} but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim`);
  if (owner.uid !== claim.metadata.uid) {
    throw new Error(`found PV object ${name} but its pv.Spec.ClaimRef.UID ${owner.uid} does not point to claim.UID ${claim.metadata.uid}`);
  }
  return volume;
}

function checkMode(pod: KubeObject, { name }: Json, { spec }: KubeObject): void {
  const mode: string = spec.volumeMode ?? 'Filesystem';
  const device = isUsedAsDevice(pod, name);
  if (device && mode !== 'Block') throw new Error(`volume ${name} has volumeMode ${mode}, but is specified in volumeDevices`);
  if (!device && mode !== 'Filesystem') throw new Error(`volume ${name} has volumeMode ${mode}, but is specified in volumeMounts`);
  if (device) throw new Error(`Cannot use volume "${name}" as a block device: this node has none; use volumeMode Filesystem`);
}

/** Of a volume that this node keeps itself. */
function ownPath({ spec }: KubeObject, { volumeFolder }: ClaimDependencies): string | undefined {
  if (!spec.local) return undefined;
  const path = normalize(spec.local.path).replace(/\/$/, '');
  return dirname(path) === volumeFolder ? path : undefined;
}

async function foreignPath({ metadata, spec }: KubeObject, policy: HostPathPolicy): Promise<string> {
  if (spec.local) return prepareHostPath(spec.local.path, 'Directory', policy);
  if (spec.hostPath) return prepareHostPath(spec.hostPath.path, spec.hostPath.type ?? '', policy);
  const type = Object.keys(spec).find((field) => !NO_SOURCE.includes(field)) ?? 'unknown';
  throw new Error(
    `Cannot mount PersistentVolume "${metadata.name}" of type "${type}": this node does not have it; use a claim of the class "local"`,
  );
}

/** Fields of a PersistentVolume that do not say what it is. */
const NO_SOURCE = [
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
];

/** Only we make anything there, so whatever is no folder is not ours. Pods that start together must not make it twice. */
async function makeOnce(path: string, making: ClaimDependencies['making']): Promise<string> {
  const before = making.get(path);
  const done = (before ?? Promise.resolve()).then(async () => {
    const present = await lstat(path).catch(() => undefined);
    if (present && !present.isDirectory()) throw new Error(`Cannot use "${path}" as a volume: it is not a folder; see what stands there`);
    if (!present) await makeOpenFolder(path);
  });
  const settled = done.catch(() => {});
  making.set(path, settled);
  void settled.then(() => making.get(path) === settled && making.delete(path));
  await done;
  return path;
}
