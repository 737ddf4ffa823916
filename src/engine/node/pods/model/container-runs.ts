import type { ContainerStateTerminated } from '../../../../kube/generated/core-v1.ts';
import { parseTime } from '../../../../kube/time.ts';
import { statusesOf, type PodObject } from './pod-object.ts';

/** One time that a container ran, or was tried to. */
export interface ContainerRun {
  /** `<pod uid>.<container>.<attempt>` */
  id: string;
  name: string;
  /** 0 for the first: what a status shows as restartCount. */
  attempt: number;
  startedAt: Date;
  image?: { name: string; id: string };
  /** As the Pod said it when this run began; unknown for runs of an agent before this one. */
  requestedImage?: string;
  end?: RunEnd;
  /** It belongs to a life of the Pod before this one (the machine was restarted): its volumes and address are gone. */
  stale?: boolean;
}

export interface RunEnd {
  exitCode: number;
  reason: string;
  message?: string;
  finishedAt: Date;
}

/** The newest run of each container and the one before, which is what a status shows. */
export class ContainerRuns {
  #runs = new Map<string, ContainerRun[]>();

  newest(name: string): ContainerRun | undefined {
    return this.#runs.get(name)?.[0];
  }

  previous(name: string): ContainerRun | undefined {
    return this.#runs.get(name)?.[1];
  }

  *all(): Generator<ContainerRun> {
    for (const runs of this.#runs.values()) yield* runs;
  }

  running(): ContainerRun[] {
    return [...this.all()].filter((run) => run.end === undefined);
  }

  /** @returns the run that falls out because two newer ones are known. */
  add(run: ContainerRun): ContainerRun[] {
    const runs = this.#runs.get(run.name) ?? [];
    runs.push(run);
    runs.sort((a, b) => b.attempt - a.attempt);
    this.#runs.set(run.name, runs);
    return runs.splice(2);
  }
}

export function runId(podUid: string, name: string, attempt: number): string {
  return `${podUid}.${name}.${attempt}`;
}

/** The end of a container that nobody saw: it ran, and then it was not there any more. */
export function lostEnd(finishedAt: Date): RunEnd {
  return {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was terminated',
    finishedAt,
  };
}

/** What the API remembers of runs that the driver does not know (any more), so that nothing that ran is taken for new. */
export function runsFromStatus(pod: PodObject, known: ReadonlySet<string>, now: Date): ContainerRun[] {
  const runs: ContainerRun[] = [];
  for (const status of statusesOf(pod)) {
    const { name, restartCount, state, lastState, image, imageID } = status;
    const shown = state?.terminated ?? (state?.waiting ? lastState?.terminated : undefined);
    const id = runId(pod.metadata.uid!, name, restartCount);
    if (known.has(id)) continue;
    const shared = { id, name, attempt: restartCount, image: imageID === '' ? undefined : { name: image, id: imageID } };
    if (state?.running) runs.push({ ...shared, startedAt: timeOf(state.running.startedAt, now), end: lostEnd(now) });
    else if (shown) runs.push({ ...shared, startedAt: timeOf(shown.startedAt, now), end: endOf(shown, now) });
  }
  return runs;
}

function endOf({ exitCode, reason, message, finishedAt }: ContainerStateTerminated, now: Date): RunEnd {
  return { exitCode, reason: reason ?? (exitCode === 0 ? 'Completed' : 'Error'), message, finishedAt: timeOf(finishedAt, now) };
}

function timeOf(text: string | undefined | null, otherwise: Date): Date {
  const time = text ? parseTime(text) : undefined;
  return time === undefined ? otherwise : new Date(time);
}
