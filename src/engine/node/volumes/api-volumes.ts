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

/** What a volume is made from now. */
export interface ApiVolume {
  /** Equal as long as the files are; undefined when they cannot be had. */
  mark: string | undefined;
  /** @throws Error in Kubernetes' words */
  files(): Files;
}

/** Reads everything that the volume needs. Files are only made when the mark says that they are needed: objects can be large. */
export async function readApiVolume(volume: Json, pod: KubeObject, dependencies: ApiVolumeDependencies): Promise<ApiVolume> {
  const { sources, defaultMode = DEFAULT_MODE } = volume.projected ?? {
    sources: [volume],
    ...(volume.configMap ?? volume.secret ?? volume.downwardAPI),
  };
  const parts = (await Promise.all(
    (sources ?? []).map((part: Json) => readPart(part, pod, defaultMode, dependencies).catch(failing)),
  )) as ApiVolume[];
  const marks = parts.map(({ mark }) => mark);
  return {
    mark: marks.includes(undefined) ? undefined : hashOf(JSON.stringify(marks)),
    files() {
      const problems: string[] = [];
      const files: Files = new Map();
      for (const part of parts) {
        try {
          for (const [path, content] of part.files()) files.set(path, content);
        } catch (error) {
          problems.push((error as Error).message);
        }
      }
      if (problems.length > 0) throw new Error(aggregate(problems));
      return files;
    },
  };
}

async function readPart(part: Json, pod: KubeObject, mode: number, dependencies: ApiVolumeDependencies): Promise<ApiVolume> {
  const { configMap, secret, downwardAPI, serviceAccountToken } = part;
  const { objects, tokens, allocatable } = dependencies;
  const namespace = pod.metadata.namespace!;
  if (configMap) {
    const object = await required(objects, { kind: 'configMap', namespace, name: configMap.name }, configMap);
    return { mark: versionOf(object), files: () => configMapFiles(configMap, object, mode) };
  }
  if (secret) {
    const object = await required(objects, { kind: 'secret', namespace, name: secret.secretName ?? secret.name }, secret);
    return { mark: versionOf(object), files: () => secretFiles(secret, object, mode) };
  }
  if (downwardAPI) {
    const files = downwardFiles(downwardAPI.items ?? [], pod, allocatable, mode);
    return { mark: hashOf(...[...files.values()].map(({ data }) => data)), files: () => files };
  }
  if (serviceAccountToken) {
    const text = await tokens.tokenFor(pod, serviceAccountToken);
    const user = userOf(pod);
    // Nobody but the user or the group of the Pod; the group gets its right when the volume is given to it.
    const own = user !== undefined || pod.spec?.securityContext?.fsGroup !== undefined;
    const content = { data: Buffer.from(text), mode: own ? 0o600 : mode, user };
    return { mark: hashOf(text), files: () => new Map([[serviceAccountToken.path, content]]) };
  }
  const [type = 'nothing'] = Object.keys(part);
  throw new Error(
    `Cannot project "${type}" into a volume: this node does not have it; use a configMap, secret, downwardAPI or serviceAccountToken`,
  );
}

/** One that says what is wrong when it is its turn, so that all that is wrong is said together. */
function failing(error: unknown): ApiVolume {
  return {
    mark: undefined,
    files() {
      throw error;
    },
  };
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

function versionOf(object: KubeObject | undefined): string {
  return object ? `${object.metadata.uid}/${object.metadata.resourceVersion}` : 'absent';
}

function hashOf(...parts: (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length} `).update(part);
  return hash.digest('base64');
}
