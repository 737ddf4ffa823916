import type { Container, PodSpec, PodStatus } from '../../../../kube/generated/core-v1.ts';
import type { ObjectMeta } from '../../../../kube/object.ts';
import { ContainerRuns, runId, type ContainerRun } from '../model/container-runs.ts';
import type { ProbeFindings } from '../model/pod-actions.ts';
import type { PodObject } from '../model/pod-object.ts';

export const UID = 'b7c6c0f1-6d3f-4c3e-9f5b-000000000001';
export const START = new Date('2026-01-01T00:00:00Z');

export function aContainer(name: string, more: Partial<Container> = {}): Container {
  return { name, image: 'app:1', terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File', ...more };
}

export function aSidecar(name: string, more: Partial<Container> = {}): Container {
  return aContainer(name, { restartPolicy: 'Always', ...more });
}

/** A Pod `web` in `shop`, with one container `c`, unless told otherwise. */
export function aPod(spec: Partial<PodSpec> = {}, status: PodStatus = {}, metadata: ObjectMeta = {}): PodObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'shop', uid: UID, resourceVersion: '1', generation: 1, ...metadata },
    spec: { containers: [aContainer('c')], restartPolicy: 'Always', terminationGracePeriodSeconds: 30, nodeName: 'n', ...spec },
    status: { phase: 'Pending', qosClass: 'BestEffort', ...status },
  };
}

export type RunSketch = 'running' | number | { exit?: number; attempt?: number; stale?: boolean; reason?: string; requestedImage?: string };

/** The newest run of each container: running, or ended with a code. Several: the newest first. */
export function runsOf(sketch: Record<string, RunSketch | RunSketch[]>): ContainerRuns {
  const runs = new ContainerRuns();
  for (const [name, value] of Object.entries(sketch)) {
    const list = Array.isArray(value) ? value : [value];
    list.forEach((one, index) => runs.add(aRun(name, one, list.length - 1 - index)));
  }
  return runs;
}

function aRun(name: string, sketch: RunSketch, position: number): ContainerRun {
  const {
    exit,
    attempt = position,
    stale,
    reason,
    requestedImage,
  } = sketch === 'running' ? {} : typeof sketch === 'number' ? { exit: sketch } : sketch;
  const run: ContainerRun = {
    id: runId(UID, name, attempt),
    name,
    attempt,
    startedAt: START,
    image: { name: 'docker.io/library/app:1', id: 'docker.io/library/app@sha256:1' },
  };
  if (stale) run.stale = true;
  if (requestedImage) run.requestedImage = requestedImage;
  if (exit !== undefined) {
    run.end = { exitCode: exit, reason: reason ?? (exit === 0 ? 'Completed' : 'Error'), finishedAt: new Date(START.getTime() + 5000) };
  }
  return run;
}

/** Findings by container, for its first run (or the attempt that is given). */
export function findings(
  sketch: Record<string, { startup?: boolean; liveness?: boolean; readiness?: boolean; attempt?: number }> = {},
): ProbeFindings {
  const find = (kind: 'startup' | 'liveness' | 'readiness') => (id: string) => {
    const entry = Object.entries(sketch).find(([name, { attempt = 0 }]) => id === runId(UID, name, attempt));
    return entry?.[1][kind];
  };
  return { startup: find('startup'), liveness: find('liveness'), readiness: find('readiness') };
}
