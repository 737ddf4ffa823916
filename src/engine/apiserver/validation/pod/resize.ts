import type { Json, KubeObject } from '../../../../kube/object.ts';
import { semanticEqual } from '../equality.ts';
import type { Findings } from '../findings.ts';
import { path, type Path } from '../path.ts';
import { MIRROR_POD } from './annotations.ts';
import { isSidecar } from './containers.ts';
import { qosClass } from './qos.ts';

/** pods/resize: cpu and memory of running containers, nothing else. */
const SPEC = path('spec');
type Resources = Record<string, string> | undefined;

export function checkPodResize(out: Findings, pod: KubeObject, old: KubeObject): void {
  const [spec, oldSpec] = [pod.spec ?? {}, old.spec ?? {}];
  const refuse = (detail: string): void => {
    out.list.length = 0;
    out.forbidden(path(''), detail);
  };
  if (old.metadata.annotations?.[MIRROR_POD] !== undefined) return refuse('static pods cannot be resized');
  if (oldSpec.os?.name === 'windows') return refuse('windows pods cannot be resized');
  if ((old.status?.qosClass || qosClass(oldSpec)) !== qosClass(spec)) {
    out.invalid(SPEC, pod.status?.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing');
  }
  if (!nodeSupportsResize(old)) out.forbidden(SPEC, 'Pod running on node without support for resize');
  if (hasPodLevelResources(spec) || hasPodLevelResources(oldSpec)) {
    const gate = 'InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled';
    return out.forbidden(path(''), `resize of pods with pod-level resources is forbidden when ${gate}`);
  }
  if (!checkSameOrder(out, spec, oldSpec)) return;
  checkNothingRemoved(out, spec, oldSpec);
  const munged = checkOnlyComputeChanged(out, spec, oldSpec);
  if (out.count === 0 && !semanticEqual('PodSpec', munged, oldSpec)) {
    out.forbidden(SPEC, 'only cpu and memory resources are mutable');
  }
}

function nodeSupportsResize(pod: KubeObject): boolean {
  const running = (pod.status?.containerStatuses ?? []).find((status: Json) => status.state?.running !== undefined);
  return running === undefined || running.resources !== undefined;
}

function hasPodLevelResources(spec: Json): boolean {
  const count = (list: Resources): number => Object.keys(list ?? {}).length;
  return count(spec.resources?.requests) + count(spec.resources?.limits) > 0;
}

function checkSameOrder(out: Findings, spec: Json, old: Json): boolean {
  const before = out.count;
  for (const field of ['containers', 'initContainers']) {
    const [containers, oldContainers]: [Json[], Json[]] = [spec[field] ?? [], old[field] ?? []];
    if (containers.length !== oldContainers.length) {
      out.forbidden(SPEC.child(field), `${field} may not be added or removed on resize`);
      continue;
    }
    oldContainers.forEach((container, i) => {
      if (containers[i].name === container.name) return;
      out.forbidden(SPEC.child(field).index(i).child('name'), `${field} may not be renamed or reordered on resize`);
    });
  }
  return out.count === before;
}

function checkNothingRemoved(out: Findings, spec: Json, old: Json): void {
  const check = (container: Json, oldContainer: Json, at: Path): void => {
    for (const kind of ['requests', 'limits']) {
      const [list, oldList]: Resources[] = [container.resources?.[kind], oldContainer.resources?.[kind]];
      const removed = Object.keys(oldList ?? {}).some((name) => !Object.hasOwn(list ?? {}, name));
      if (removed) out.forbidden(at.child(kind), `resource ${kind} cannot be removed`);
    }
  };
  (old.initContainers ?? []).forEach((container: Json, i: number) => {
    if (isSidecar(container)) check(spec.initContainers[i], container, SPEC.child('initContainers').index(i).child('resources'));
  });
  (old.containers ?? []).forEach((container: Json, i: number) => {
    check(spec.containers[i], container, SPEC.child('containers').index(i).child('resources'));
  });
}

function withOldCompute(list: Resources, old: Resources): Resources {
  if (list === undefined && old === undefined) return undefined;
  const { cpu: _cpu, memory: _memory, ...rest } = list ?? {};
  const kept: Record<string, string> = { ...rest };
  if (old?.cpu !== undefined) kept.cpu = old.cpu;
  if (old?.memory !== undefined) kept.memory = old.memory;
  return kept;
}

function withOldComputeOf(container: Json, old: Json): Json {
  const limits = withOldCompute(container.resources?.limits, old.resources?.limits);
  const requests = withOldCompute(container.resources?.requests, old.resources?.requests);
  return { ...container, resources: { limits, requests } };
}

/** @returns the new spec with the old cpu and memory. */
function checkOnlyComputeChanged(out: Findings, spec: Json, old: Json): Json {
  const containers = (spec.containers ?? []).map((container: Json, i: number) => {
    const munged = withOldComputeOf(container, old.containers[i]);
    if (!semanticEqual('Container', munged, old.containers[i])) out.forbidden(SPEC, 'only cpu and memory resources are mutable');
    return munged;
  });
  const initContainers = spec.initContainers?.map((container: Json, i: number) => {
    const sidecar = isSidecar(container);
    const munged = sidecar ? withOldComputeOf(container, old.initContainers[i]) : container;
    if (!semanticEqual('Container', munged, old.initContainers[i])) {
      const sidecarDetail = 'only cpu and memory resources for sidecar containers are mutable';
      out.forbidden(SPEC, sidecar ? sidecarDetail : 'resources for non-sidecar init containers are immutable');
    }
    return munged;
  });
  return { ...spec, containers, initContainers };
}
