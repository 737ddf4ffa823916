import type { Json, KubeObject } from '../../../kube/object.ts';
import { ContainerError } from '../drivers/driver.ts';
import { resourceForVariable, type ResourceList } from './container-resource.ts';
import { expand, valueFrom } from './expansion.ts';
import { podFieldForVariable } from './pod-field.ts';
import { serviceVariables } from './service-variables.ts';

/** How the environment gets at objects; undefined: there is none of that name. */
export interface ReadObjects {
  configMap(namespace: string, name: string): Promise<KubeObject | undefined>;
  secret(namespace: string, name: string): Promise<KubeObject | undefined>;
}

export interface EnvironmentInput {
  pod: KubeObject;
  /** From the Pod: a container, an init container or an ephemeral one. */
  container: Json;
  /** At least those of the Pod's namespace and the API server's own, `default/kubernetes`. */
  services: Iterable<KubeObject>;
  podIp: string;
  hostIp: string;
  node: { allocatable: ResourceList };
  read: ReadObjects;
}

/**
 * The variables of a container: envFrom, over it env in the order it is written, below both the Services.
 * Rejects with a ContainerError (CreateContainerConfigError) in the words of the kubelet.
 */
export async function resolveEnvironment(input: EnvironmentInput): Promise<Record<string, string>> {
  const { pod, container, services } = input;
  const namespace = pod.metadata.namespace!;
  const read = remembering(input.read, namespace);
  const ofServices = serviceVariables(services, namespace, pod.spec.enableServiceLinks !== false);
  const own = new Map<string, string>();
  for (const source of container.envFrom ?? []) await addAll(source, read, own);
  const valueOf = valueFrom(own, ofServices);
  for (const variable of container.env ?? []) {
    const value = variable.value ? expand(variable.value, valueOf) : await valueFromSource(variable.valueFrom, input, read);
    if (value !== undefined) own.set(variable.name, value);
  }
  return Object.fromEntries([...ofServices, ...own]);
}

type ReadData = (source: DataKind, name: string) => Promise<ReadonlyMap<string, string> | undefined>;
type DataKind = 'configMap' | 'secret';

/** Each object is read once, so that all variables of a container come from the same state of it. */
function remembering(read: ReadObjects, namespace: string): ReadData {
  const known = new Map<string, ReadonlyMap<string, string>>();
  return async (kind, name) => {
    const key = `${kind}/${name}`;
    const before = known.get(key);
    if (before) return before;
    const object = await read[kind](namespace, name);
    if (!object) return undefined;
    const entries = Object.entries((object.data ?? {}) as Record<string, string>);
    const texts = kind === 'secret' ? entries.map(([entry, value]) => [entry, fromBase64(value)] as const) : entries;
    const data = new Map(texts);
    known.set(key, data);
    return data;
  };
}

async function addAll(source: Json, read: ReadData, variables: Map<string, string>): Promise<void> {
  const kind: DataKind = source.configMapRef ? 'configMap' : 'secret';
  const reference = source.configMapRef ?? source.secretRef;
  if (!reference) return;
  const data = await read(kind, reference.name);
  if (!data) {
    if (reference.optional === true) return;
    throw notFound(kind, reference.name);
  }
  for (const [key, value] of data) variables.set(`${source.prefix ?? ''}${key}`, value);
}

/** @returns undefined when the variable is not to be set at all */
async function valueFromSource(source: Json, input: EnvironmentInput, read: ReadData): Promise<string | undefined> {
  const { pod, container, node } = input;
  if (source?.configMapKeyRef) return valueOfKey('configMap', source.configMapKeyRef, pod, read);
  if (source?.secretKeyRef) return valueOfKey('secret', source.secretKeyRef, pod, read);
  if (source?.fileKeyRef) {
    const { volumeName, key } = source.fileKeyRef;
    throw configError(
      `Cannot read the variable "${key}" from a file of volume "${volumeName}": this node does not support fileKeyRef; use a ConfigMap or a Secret`,
    );
  }
  try {
    if (source?.fieldRef) return podFieldForVariable(pod, source.fieldRef.fieldPath, input);
    if (source?.resourceFieldRef) return resourceForVariable(source.resourceFieldRef, pod, container, node.allocatable);
  } catch (error) {
    throw configError((error as Error).message);
  }
  return '';
}

async function valueOfKey(kind: DataKind, reference: Json, pod: KubeObject, read: ReadData): Promise<string | undefined> {
  const { name, key, optional } = reference;
  const data = await read(kind, name);
  const value = data?.get(key);
  if (value !== undefined || optional === true) return value;
  if (!data) throw notFound(kind, name);
  const shown = kind === 'configMap' ? 'ConfigMap' : 'Secret';
  throw configError(`couldn't find key ${key} in ${shown} ${pod.metadata.namespace}/${name}`);
}

function notFound(kind: DataKind, name: string): ContainerError {
  return configError(`${kind.toLowerCase()} "${name}" not found`);
}

function configError(message: string): ContainerError {
  return new ContainerError('CreateContainerConfigError', message);
}

function fromBase64(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8');
}
