import { deepCopy, deepEqual } from '../../../kube/json-value.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import type { ObjectReader } from '../registry/objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts';
import { isOn, refusal } from './refusal.ts';

const RUNTIME_CLASSES = { group: 'node.k8s.io', resource: 'runtimeclasses' };

/** Adds the overhead and the scheduling constraints of a pod's runtime class. */
export function runtimeClass(reader: ObjectReader): AdmissionPlugin {
  function classOf(request: AdmissionRequest): KubeObject | undefined {
    const name: string | undefined = request.object!.spec.runtimeClassName;
    if (name === undefined) return undefined;
    const found = reader.get(RUNTIME_CLASSES, '', name);
    if (!found) throw refusal(request, `pod rejected: RuntimeClass "${name}" not found`);
    return found;
  }

  return {
    name: 'RuntimeClass',
    handles: (request) => request.operation === 'CREATE' && request.subresource === '' && isOn(request, '', 'pods'),
    mutate(request) {
      const found = classOf(request);
      if (found?.overhead) setOverhead(request, found.overhead.podFixed);
      if (found?.scheduling) setScheduling(request, found.scheduling);
    },
    validate(request) {
      const overhead = classOf(request)?.overhead;
      const actual = request.object!.spec.overhead;
      if (!overhead) {
        if (actual !== undefined) {
          throw refusal(request, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
        }
      } else if (!deepEqual(overhead.podFixed ?? {}, actual ?? {})) throw overheadMismatch(request);
    },
  };
}

function setOverhead(request: AdmissionRequest, overhead: Json): void {
  const spec: Json = request.object!.spec;
  if (Object.keys(spec.overhead ?? {}).length > 0 && !deepEqual(overhead ?? {}, spec.overhead)) throw overheadMismatch(request);
  if (overhead) spec.overhead = { ...overhead };
}

function overheadMismatch(request: AdmissionRequest): Error {
  return refusal(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
}

function setScheduling(request: AdmissionRequest, scheduling: Json): void {
  const spec: Json = request.object!.spec;
  const selector = { ...spec.nodeSelector };
  for (const [key, value] of Object.entries<string>(scheduling.nodeSelector ?? {})) {
    if (selector[key] !== undefined && selector[key] !== value) {
      throw refusal(
        request,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${selector[key]}`,
      );
    }
    selector[key] = value;
  }
  if (Object.keys(selector).length > 0) spec.nodeSelector = selector;
  const tolerations = mergeTolerations(spec.tolerations ?? [], scheduling.tolerations ?? []);
  if (tolerations.length > 0) spec.tolerations = tolerations;
}

/** Both lists, without those that another one covers. Of equal ones the first stays. */
export function mergeTolerations(first: Json[], second: Json[]): Json[] {
  const all = [...first, ...second];
  const merged: Json[] = [];
  for (const [index, toleration] of all.entries()) {
    if (merged.some((kept) => covers(kept, toleration))) continue;
    if (all.slice(index + 1).some((later) => !deepEqual(later, toleration) && covers(later, toleration))) continue;
    merged.push(deepCopy(toleration));
  }
  return merged;
}

function covers(wide: Json, narrow: Json): boolean {
  if (deepEqual(wide, narrow)) return true;
  if ((narrow.key ?? '') !== (wide.key ?? '') && (wide.key || wide.operator !== 'Exists')) return false;
  if ((narrow.effect ?? '') !== (wide.effect ?? '') && wide.effect) return false;
  if (wide.effect === 'NoExecute' && wide.tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > wide.tolerationSeconds) return false;
  }
  if (wide.operator === 'Exists') return true;
  return narrow.operator === 'Equal' && (narrow.value ?? '') === (wide.value ?? '');
}
