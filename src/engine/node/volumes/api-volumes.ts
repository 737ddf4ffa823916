import { createHash } from 'node:crypto';
import type { Json, KubeObject } from '../../../kube/object.ts';
import type { ResourceList } from '../environment/container-resource.ts';
import { aggregate, configMapFiles, DEFAULT_MODE, downwardFiles, secretFiles, type Files } from './model/payload.ts';
import { userOf } from './model/pod-mounts.ts';
import type { PodTokens } from './pod-tokens.ts';
import type { Reference, ReferencedObjects } from './referenced-objects.ts';

/** Volumes whose files come from the API. Containers cannot write to them. */
export const API_SOURCES: readonly string[] = ['configMap', 'secret', 'downwardAPI', 'projected'];
/** Those that may hold secrets. */
export const IN_MEMORY: readonly string[] = ['secret', 'downwardAPI', 'projected'];

export interface ApiVolumeDependencies {
  objects: Pick<ReferencedObjects, 'read'>;
  tokens: PodTokens;
  allocatable: ResourceList;
}

/** The objects a volume is made from. */
export function referencesOf(volume: Json, namespace: string): Reference[] {
  const parts: Json[] = volume.projected?.sources ?? [volume];
  return parts.flatMap(({ configMap, secret }): Reference[] => {
    if (configMap) return [{ kind: 'configMap', namespace, name: configMap.name }];
    return secret ? [{ kind: 'secret', namespace, name: secret.secretName ?? secret.name }] : [];
  });
}

/** The files of a volume as they should be now. @throws Error in Kubernetes' words */
export async function filesOf(volume: Json, pod: KubeObject, dependencies: ApiVolumeDependencies): Promise<Files> {
  if (!volume.projected) {
    const source = volume.configMap ?? volume.secret ?? volume.downwardAPI;
    return filesOfPart(volume, pod, source.defaultMode ?? DEFAULT_MODE, dependencies);
  }
  const { sources = [], defaultMode = DEFAULT_MODE } = volume.projected;
  const files: Files = new Map();
  const problems: string[] = [];
  for (const part of sources) {
    try {
      for (const [path, content] of await filesOfPart(part, pod, defaultMode, dependencies)) files.set(path, content);
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  if (problems.length > 0) throw new Error(aggregate(problems));
  return files;
}

async function filesOfPart(part: Json, pod: KubeObject, mode: number, dependencies: ApiVolumeDependencies): Promise<Files> {
  const { configMap, secret, downwardAPI, serviceAccountToken } = part;
  const { objects, tokens, allocatable } = dependencies;
  const namespace = pod.metadata.namespace!;
  if (configMap)
    return configMapFiles(configMap, await required(objects, { kind: 'configMap', namespace, name: configMap.name }, configMap), mode);
  if (secret) {
    const name = secret.secretName ?? secret.name;
    return secretFiles(secret, await required(objects, { kind: 'secret', namespace, name }, secret), mode);
  }
  if (downwardAPI) return downwardFiles(downwardAPI.items ?? [], pod, allocatable, mode);
  if (serviceAccountToken) {
    const text = await tokens.tokenFor(pod, serviceAccountToken);
    const user = userOf(pod);
    // Nobody but the user or the group of the Pod; the group gets its right when the volume is given to it.
    const own = user !== undefined || pod.spec?.securityContext?.fsGroup !== undefined;
    return new Map([[serviceAccountToken.path, { data: Buffer.from(text), mode: own ? 0o600 : mode, user }]]);
  }
  const [type = 'nothing'] = Object.keys(part);
  throw new Error(
    `Cannot project "${type}" into a volume: this node does not have it; use a configMap, secret, downwardAPI or serviceAccountToken`,
  );
}

async function required(
  objects: Pick<ReferencedObjects, 'read'>,
  reference: Reference,
  source: { optional?: boolean },
): Promise<KubeObject | undefined> {
  const object = await objects.read(reference);
  if (!object && source.optional !== true) throw new Error(`${reference.kind.toLowerCase()} "${reference.name}" not found`);
  return object;
}

/** Equal for equal files: what was written already needs no look at the disk. */
export function fingerprint(files: Files): string {
  const hash = createHash('sha256');
  for (const [path, { data, mode, user = -1 }] of [...files].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(JSON.stringify([path, mode, user, data.length])).update(data);
  }
  return hash.digest('base64');
}
