import { ageOf } from '../../../../kube/age.ts';
import type { Json } from '../../../../kube/object.ts';

interface Progress {
  reason: string;
  ready: number;
  restarts: number;
  /** When a container last ended before it was started again. */
  lastRestart: string;
}

export interface PodSummary {
  ready: string;
  status: string;
  restarts: string;
}

/** What `kubectl get pods` says about a Pod: one word for its state, found in the state of its containers. */
export function summarizePod(pod: Json, now: Date): PodSummary {
  const { spec, status = {}, metadata } = pod;
  const sidecars = new Set<string>(
    (spec.initContainers ?? []).filter((container: Json) => container.restartPolicy === 'Always').map((container: Json) => container.name),
  );
  const initial: Progress = { reason: initialReason(status), ready: 0, restarts: 0, lastRestart: '' };
  const init = afterInitContainers(initial, spec, status, sidecars);
  const progress =
    init.isInitializing && !hasCondition(status, 'Initialized') ? init.progress : afterContainers(init.progress, status, init.sidecars);
  return {
    ready: `${progress.ready}/${(spec.containers ?? []).length + sidecars.size}`,
    status: deletionReason(metadata, status) ?? progress.reason,
    restarts:
      progress.restarts !== 0 && progress.lastRestart !== ''
        ? `${progress.restarts} (${ageOf(progress.lastRestart, now)} ago)`
        : String(progress.restarts),
  };
}

function initialReason(status: Json): string {
  const isGated = status.conditions?.some((condition: Json) => condition.type === 'PodScheduled' && condition.reason === 'SchedulingGated');
  return isGated ? 'SchedulingGated' : status.reason || status.phase || '';
}

function deletionReason(metadata: Json, status: Json): string | undefined {
  if (!metadata.deletionTimestamp) return undefined;
  if (status.reason === 'NodeLost') return 'Unknown';
  return status.phase === 'Failed' || status.phase === 'Succeeded' ? undefined : 'Terminating';
}

function hasCondition(status: Json, type: string): boolean {
  return status.conditions?.find((condition: Json) => condition.type === type)?.status === 'True';
}

function withRestarts(progress: Progress, container: Json): Progress {
  const finished = container.lastState?.terminated?.finishedAt ?? '';
  const lastRestart = finished > progress.lastRestart ? finished : progress.lastRestart;
  return { ...progress, restarts: progress.restarts + (container.restartCount ?? 0), lastRestart };
}

interface InitProgress {
  progress: Progress;
  /** Restarts of the init containers that keep running: the only ones that count once the Pod is initialized. */
  sidecars: Pick<Progress, 'restarts' | 'lastRestart'>;
  isInitializing: boolean;
}

function afterInitContainers(initial: Progress, spec: Json, status: Json, sidecars: ReadonlySet<string>): InitProgress {
  let progress = initial;
  let sidecarProgress = initial;
  for (const [index, container] of (status.initContainerStatuses ?? []).entries()) {
    const isSidecar = sidecars.has(container.name);
    progress = withRestarts(progress, container);
    if (isSidecar) sidecarProgress = withRestarts(sidecarProgress, container);
    if (container.state?.terminated?.exitCode === 0) continue;
    if (isSidecar && container.started) {
      if (container.ready) progress = { ...progress, ready: progress.ready + 1 };
      continue;
    }
    const reason = initReason(container.state ?? {}, index, (spec.initContainers ?? []).length);
    return { progress: { ...progress, reason }, sidecars: sidecarProgress, isInitializing: true };
  }
  return { progress, sidecars: sidecarProgress, isInitializing: false };
}

function initReason({ terminated, waiting }: Json, index: number, total: number): string {
  if (terminated) return `Init:${terminationReason(terminated)}`;
  return waiting?.reason && waiting.reason !== 'PodInitializing' ? `Init:${waiting.reason}` : `Init:${index}/${total}`;
}

function terminationReason({ reason, signal, exitCode }: Json): string {
  if (reason) return reason;
  return signal ? `Signal:${signal}` : `ExitCode:${exitCode ?? 0}`;
}

function afterContainers(initialized: Progress, status: Json, sidecars: InitProgress['sidecars']): Progress {
  let progress: Progress = { ...initialized, restarts: sidecars.restarts, lastRestart: sidecars.lastRestart };
  let isRunning = false;
  let failure = '';
  for (const container of (status.containerStatuses ?? []).toReversed()) {
    progress = withRestarts(progress, container);
    const { waiting, terminated, running } = container.state ?? {};
    if (waiting?.reason) progress.reason = waiting.reason;
    else if (terminated) {
      progress.reason = terminationReason(terminated);
      if (terminated.exitCode) failure = progress.reason;
    } else if (container.ready && running) {
      isRunning = true;
      progress.ready += 1;
    }
  }
  if (progress.reason !== 'Completed') return progress;
  if (isRunning && hasCondition(status, 'Ready')) return { ...progress, reason: 'Running' };
  return { ...progress, reason: failure || (isRunning ? 'NotReady' : 'Completed') };
}
