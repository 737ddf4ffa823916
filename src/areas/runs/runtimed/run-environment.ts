import { TRACEPARENT_VARIABLE } from '../../../api/kruntimes.io/v1alpha1/names.ts';
import type { EnvVar, Run } from '../../../api/kruntimes.io/v1alpha1/run.ts';

/** How values that are kept elsewhere are read: the data of an object, or undefined when there is none. */
export interface ValueReader {
  secret(name: string): Promise<Record<string, string> | undefined>;
  configMap(name: string): Promise<Record<string, string> | undefined>;
}

export class EnvironmentError extends Error {}

/** The variables of a Run, with those taken from Secrets, ConfigMaps and the Run itself. @param traceparent the trace it is a part of */
export async function runEnvironment(run: Run, read: ValueReader, traceparent?: string): Promise<Record<string, string>> {
  const env: Record<string, string> = traceparent === undefined ? {} : { [TRACEPARENT_VARIABLE]: traceparent };
  for (const variable of run.spec.env ?? []) {
    const value = variable.valueFrom === undefined ? (variable.value ?? '') : await valueFrom(run, variable, read);
    if (value !== undefined) env[variable.name] = value;
  }
  return env;
}

async function valueFrom(run: Run, { name, valueFrom: source }: EnvVar, read: ValueReader): Promise<string | undefined> {
  if (source?.fieldRef !== undefined) return fieldOf(run, name, source.fieldRef.fieldPath);
  const [kind, reference, data] = source?.secretKeyRef
    ? (['Secret', source.secretKeyRef, await read.secret(source.secretKeyRef.name)] as const)
    : source?.configMapKeyRef
      ? (['ConfigMap', source.configMapKeyRef, await read.configMap(source.configMapKeyRef.name)] as const)
      : [undefined, undefined, undefined];
  if (reference === undefined) {
    throw new EnvironmentError(
      `Cannot set "${name}": this kind of valueFrom is not supported for Runs; use secretKeyRef, configMapKeyRef or fieldRef`,
    );
  }
  const value = data?.[reference.key];
  if (value !== undefined) return value;
  if (reference.optional) return undefined;
  const state =
    data === undefined
      ? `${kind} "${reference.name}" not found`
      : `couldn't find key ${reference.key} in ${kind} ${run.metadata.namespace}/${reference.name}`;
  throw new EnvironmentError(`Cannot set "${name}": ${state}; create it or mark the reference as optional`);
}

function fieldOf({ metadata, spec }: Run, variable: string, path: string): string {
  const part = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path);
  if (part !== null) return metadata[part[1] as 'labels']?.[part[2]] ?? '';
  switch (path) {
    case 'metadata.name':
    case 'metadata.namespace':
    case 'metadata.uid':
      return metadata[path.slice('metadata.'.length) as 'name'] ?? '';
    case 'spec.runtime':
      return spec.runtime;
    default:
      throw new EnvironmentError(
        `Cannot set "${variable}": a Run has no field "${path}"; use metadata.name, metadata.namespace, metadata.uid, metadata.labels['x'], metadata.annotations['x'] or spec.runtime`,
      );
  }
}
