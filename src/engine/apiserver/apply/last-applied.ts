import { byteLength, compareText, marshal } from '../../../kube/go-text.ts';
import { isJsonObject } from '../../../kube/json-value.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { typeFindings } from './configuration-check.ts';
import { difference as differenceOf } from './field-difference.ts';
import { difference, union, type FieldSet } from './field-set.ts';
import { statedFields } from './owned-fields.ts';
import type { ValueType } from './value-type.ts';

/**
 * The annotation in which `kubectl apply` keeps what it applied on the client's side. It lets kubectl take over fields that it
 * set itself before it applied on the server, and is kept up to date so that one can go back.
 */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const KUBECTL = 'kubectl';
const ANNOTATIONS_MAX_BYTES = 256 * 1024;

/** Fields that kubectl applied on the client's side and that nobody changed since: taking them over is no conflict. */
export function takenOverFields(manager: string, type: ValueType, live: KubeObject, apiVersion: string): FieldSet | undefined {
  const annotation = live.metadata.annotations?.[LAST_APPLIED];
  if (manager !== KUBECTL || !annotation) return undefined;
  let applied: Json;
  try {
    applied = JSON.parse(annotation);
  } catch {
    return undefined;
  }
  if (!isJsonObject(applied) || applied.apiVersion !== apiVersion || typeFindings(type, applied).length > 0) return undefined;
  const found = differenceOf(type, applied, live);
  return difference(statedFields(type, applied), union(found.changed, found.removed));
}

function sortedJson(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => sortedJson(item));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => compareText(a, b));
  return Object.fromEntries(entries.map(([key, item]) => [key, sortedJson(item)]));
}

/** Writes what kubectl applied into the annotation, if the object has it; leaves it out when it would make annotations too large. */
export function updateLastApplied(manager: string, object: KubeObject, config: KubeObject): void {
  const { annotations } = object.metadata;
  if (manager !== KUBECTL || !annotations?.[LAST_APPLIED]) return;
  const bare = sortedJson(config);
  if (isJsonObject(bare.metadata?.annotations)) delete bare.metadata.annotations[LAST_APPLIED];
  annotations[LAST_APPLIED] = `${marshal(bare)}\n`;
  const size = Object.entries(annotations).reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);
  if (size > ANNOTATIONS_MAX_BYTES) delete annotations[LAST_APPLIED];
}
