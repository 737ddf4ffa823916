import { parseAllDocuments } from 'yaml';
import { RunKind } from '../../api/kruntimes.io/v1alpha1/run.ts';
import { RuntimeKind } from '../../api/kruntimes.io/v1alpha1/runtime.ts';
import { apiVersionOf, type Kind } from '../../kube/kind.ts';
import type { Json, KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { attempting } from '../terminal/explain.ts';
import { qualifiedName } from '../terminal/print.ts';
import { FIELD_MANAGER, type Session } from '../terminal/session.ts';

/** Makes the objects of manifests be as they say, one after the other; one that fails does not keep the others. */
export async function apply(session: Session, files: string[]): Promise<number> {
  const objects: KubeObject[] = [];
  for (const file of files) objects.push(...parseManifest(await contentOf(file, (name) => session.read(name)), file));
  let failures = 0;
  for (const object of objects) {
    try {
      session.out(`${await applyObject(session, object)}\n`);
    } catch (error) {
      failures++;
      session.err(`krt: ${(error as Error).message}\n`);
    }
  }
  return failures === 0 ? 0 : 1;
}

async function contentOf(file: string, read: (file: string) => Promise<string>): Promise<string> {
  try {
    return await read(file);
  } catch (error) {
    throw new Error(`Cannot read the manifest "${file}": ${(error as Error).message}; name a file that is there`, { cause: error });
  }
}

/** YAML or JSON, several documents or a List. */
export function parseManifest(text: string, file: string): KubeObject[] {
  const objects: KubeObject[] = [];
  for (const document of parseAllDocuments(text)) {
    if ('errors' in document && document.errors.length > 0) {
      throw new Error(`Cannot read the manifest "${file}": ${document.errors[0].message.split('\n')[0]}; correct the file`);
    }
    const value: Json = 'toJS' in document ? document.toJS() : null;
    if (value === null || value === undefined) continue;
    for (const object of value.kind === 'List' ? (value.items ?? []) : [value]) objects.push(checked(object, file));
  }
  if (objects.length === 0) throw new Error(`Cannot apply "${file}": there is nothing in it`);
  return objects;
}

function checked(object: Json, file: string): KubeObject {
  const isObject = typeof object === 'object' && object !== null && !Array.isArray(object);
  if (!isObject || typeof object.apiVersion !== 'string' || typeof object.kind !== 'string') {
    throw new Error(`Cannot apply "${file}": it holds something without apiVersion and kind; add them`);
  }
  if (!object.metadata?.name && !object.metadata?.generateName) {
    throw new Error(`Cannot apply "${file}": a ${object.kind} in it has no metadata.name; add one`);
  }
  return object as KubeObject;
}

async function applyObject(session: Session, object: KubeObject): Promise<string> {
  const { name, generateName, namespace } = object.metadata;
  const where = { server: session.cluster.server, namespace: namespace ?? session.namespace };
  return attempting(`apply ${object.kind} "${name ?? generateName}"`, where, async () => {
    const kind = await kindOf(session, object);
    const resource = session.cluster.client.resource(kind, kind.namespaced ? where.namespace : undefined);
    if (name === undefined) {
      const made = await resource.create(object, { fieldManager: FIELD_MANAGER, fieldValidation: 'Strict' });
      return `${qualifiedName(kind, made.metadata.name!)} created`;
    }
    const before = await resource.get(name).catch((error: unknown) => {
      if (isStatusError(error, 'NotFound')) return undefined;
      throw error;
    });
    const after = await resource.apply(object, { fieldManager: FIELD_MANAGER, force: true, fieldValidation: 'Strict' });
    const isSame = before?.metadata.resourceVersion === after.metadata.resourceVersion;
    return `${qualifiedName(kind, name)} ${before === undefined ? 'created' : isSame ? 'unchanged' : 'configured'}`;
  });
}

async function kindOf(session: Session, { apiVersion, kind }: KubeObject): Promise<Kind> {
  const own = [RunKind, RuntimeKind].find((known) => apiVersionOf(known) === apiVersion && known.kind === kind);
  const found = own ?? (await session.cluster.client.discovery.forKind(apiVersion, kind));
  if (found === undefined) {
    throw new Error(`Cannot apply a ${kind} of ${apiVersion}: "${session.cluster.server}" does not know that kind; correct the manifest`);
  }
  return found;
}
