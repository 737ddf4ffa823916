import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { FileContent } from '../disk/atomic-writer.ts';
import { podField } from '../../environment/pod-field.ts';
import { resourceForFile, type ResourceList } from '../../environment/container-resource.ts';

/** The mode of files where the Pod does not say; the API server writes it into every Pod. */
export const DEFAULT_MODE = 0o644;

interface KeyToPath {
  key: string;
  path: string;
  mode?: number;
}

interface DataSource {
  items?: KeyToPath[];
  optional?: boolean;
}

export type Files = Map<string, FileContent>;

/** Files of a ConfigMap; `object` is undefined when there is none and that is allowed. @throws Error in Kubernetes' words */
export function configMapFiles({ items, optional }: DataSource, object: KubeObject | undefined, defaultMode: number): Files {
  const data = new Map<string, Buffer>();
  for (const [key, text] of entriesOf(object?.data)) data.set(key, Buffer.from(text));
  for (const [key, text] of entriesOf(object?.binaryData)) data.set(key, Buffer.from(text, 'base64'));
  return select(items, data, defaultMode, optional === true, (key) => `configmap references non-existent config key: ${key}`);
}

/** @throws Error in Kubernetes' words */
export function secretFiles({ items, optional }: DataSource, object: KubeObject | undefined, defaultMode: number): Files {
  const data = new Map(entriesOf(object?.data).map(([key, text]) => [key, Buffer.from(text, 'base64')]));
  return select(items, data, defaultMode, optional === true, (key) => `references non-existent secret key: ${key}`);
}

/** @throws Error in Kubernetes' words */
export function downwardFiles(items: Json[], pod: KubeObject, allocatable: ResourceList, defaultMode: number): Files {
  const files: Files = new Map();
  const problems: string[] = [];
  for (const { path, mode = defaultMode, fieldRef, resourceFieldRef } of items) {
    try {
      const text = fieldRef
        ? podField(pod, fieldRef.fieldPath)
        : resourceFieldRef
          ? resourceForFile(resourceFieldRef, pod, allocatable)
          : '';
      files.set(path, { data: Buffer.from(text), mode });
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  if (problems.length > 0) throw new Error(aggregate(problems));
  return files;
}

/** How Kubernetes prints several errors as one. */
export function aggregate(messages: readonly string[]): string {
  const unique = [...new Set(messages)];
  return unique.length === 1 ? unique[0] : `[${unique.join(', ')}]`;
}

function select(
  items: KeyToPath[] | undefined,
  data: Map<string, Buffer>,
  defaultMode: number,
  optional: boolean,
  missing: (key: string) => string,
): Files {
  if (!items?.length) return new Map([...data].map(([key, content]) => [key, { data: content, mode: defaultMode }]));
  const files: Files = new Map();
  for (const { key, path, mode = defaultMode } of items) {
    const content = data.get(key);
    if (content) files.set(path, { data: content, mode });
    else if (!optional) throw new Error(missing(key));
  }
  return files;
}

function entriesOf(map: Json): [string, string][] {
  return Object.entries((map ?? {}) as Record<string, string>);
}
