import { describe, expect, it } from 'vitest';
import type { Run, RunPhase, RunStatus } from '../../../../api/kruntimes.io/v1alpha1/run.ts';
import { isTerminal, isUntouched, phaseOf } from '../../../../api/kruntimes.io/v1alpha1/run-state.ts';
import { ORIGINAL_UID, PLACEMENT_FINALIZER } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import { nextRunMove, uncertain, type RunMove } from './run-move.ts';
import { endedStatus, runCopy } from './run-copy.ts';

const SPEC = { runtime: 'here', mode: { task: {} } };

function aRun(status?: Partial<RunStatus>, metadata: object = {}): Run {
  const run = {
    apiVersion: 'kruntimes.io/v1alpha1',
    kind: 'Run',
    metadata: { name: 'r', namespace: 'n', uid: 'u', resourceVersion: '1', ...metadata },
    spec: SPEC,
  };
  return status ? { ...run, status: { phase: 'Pending', ...status } } : run;
}

const TAKEN = { placedIn: 'acme' };
const HELD = { finalizers: [PLACEMENT_FINALIZER] };
const GOING = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const aCopy = (status?: Partial<RunStatus>, metadata: object = {}) =>
  aRun(status, { ...HELD, annotations: { [ORIGINAL_UID]: 'u' }, ...metadata });

describe('nextRunMove', () => {
  it.each<[string, Run | undefined, Run | undefined, boolean, RunMove['type']]>([
    ['takes a Run that has not begun', aRun(), undefined, true, 'take'],
    ['leaves one that has begun to the host', aRun({ phase: 'Scheduled' }), undefined, true, 'none'],
    ['leaves one that was tried on the host to it', aRun({ attempt: 2 }), undefined, true, 'none'],
    ['leaves all to the host that is not placed', aRun(), undefined, false, 'none'],
    ['lets one go that the host was faster with', aRun({ phase: 'Running' }, HELD), undefined, true, 'freeOriginal'],
    ['leaves one of another cluster alone', aRun({ placedIn: 'other' }), undefined, true, 'none'],
    ['makes the copy of one that was taken', aRun(TAKEN, HELD), undefined, true, 'create'],
    ['makes no copy after the way back', aRun(TAKEN, HELD), undefined, false, 'giveBack'],
    ['brings the phase of the copy', aRun(TAKEN, HELD), aCopy({ phase: 'Running' }), true, 'report'],
    ['brings an end, also of a copy that goes', aRun(TAKEN, HELD), aCopy({ phase: 'Failed' }, GOING), true, 'report'],
    ['is done when both say the same', aRun({ ...TAKEN, phase: 'Running' }, HELD), aCopy({ phase: 'Running' }), true, 'none'],
    [
      'lets a finished Run go before its copy',
      aRun({ ...TAKEN, phase: 'Succeeded' }, HELD),
      aCopy({ phase: 'Succeeded' }),
      true,
      'freeOriginal',
    ],
    ['then asks the copy to go', aRun({ ...TAKEN, phase: 'Succeeded' }), aCopy({ phase: 'Succeeded' }), true, 'removeCopy'],
    ['then lets it', aRun({ ...TAKEN, phase: 'Succeeded' }), aCopy({ phase: 'Succeeded' }, GOING), true, 'freeCopy'],
    [
      'keeps a copy that has artifacts',
      aRun({ ...TAKEN, phase: 'Succeeded' }, HELD),
      aCopy({ phase: 'Succeeded', artifactStore: { driver: 's3' } as never }),
      true,
      'none',
    ],
    [
      'leaves artifacts where they are, on the way back',
      aRun({ ...TAKEN, phase: 'Succeeded' }),
      aCopy({ phase: 'Succeeded' }, { finalizers: [PLACEMENT_FINALIZER, 'kruntimes.io/artifact-cleanup'] }),
      false,
      'keepArtifacts',
    ],
    ['calls back what waits in the cluster', aRun(TAKEN, HELD), aCopy(), false, 'removeCopy'],
    ['gives back what was called back', aRun(TAKEN, HELD), aCopy({}, GOING), false, 'giveBack'],
    ['then lets the copy go', aRun({}, HELD), aCopy({}, GOING), false, 'freeCopy'],
    ['then the Run', aRun({}, HELD), undefined, false, 'freeOriginal'],
    ['waits for what runs in the cluster', aRun({ ...TAKEN, phase: 'Running' }, HELD), aCopy({ phase: 'Running' }), false, 'none'],
    ['puts back a copy that was deleted before it began', aRun(TAKEN, HELD), aCopy({}, GOING), true, 'freeCopy'],
    [
      'ends a Run whose copy was deleted while it ran',
      aRun({ ...TAKEN, phase: 'Running' }, HELD),
      aCopy({ phase: 'Running' }, GOING),
      true,
      'end',
    ],
    ['ends a Run whose copy is gone since it ran', aRun({ ...TAKEN, phase: 'Running' }, HELD), undefined, true, 'end'],
    [
      'ends the copy of a Run that is deleted',
      aRun({ ...TAKEN, phase: 'Running' }, { ...HELD, ...GOING }),
      aCopy({ phase: 'Running' }),
      true,
      'removeCopy',
    ],
    ['lets a deleted Run go when its copy is gone', aRun(TAKEN, { ...HELD, ...GOING }), undefined, true, 'freeOriginal'],
    ['removes a copy of nothing', undefined, aCopy(), true, 'removeCopy'],
    [
      'removes the copy of a former Run of that name',
      aRun(TAKEN, HELD),
      aCopy({}, { annotations: { [ORIGINAL_UID]: 'former' } }),
      true,
      'removeCopy',
    ],
  ])('%s', (_what, original, copy, placed, expected) => {
    expect(nextRunMove(original, copy, { cluster: 'acme', placed }).type).toBe(expected);
  });

  it('passes on that a Run is to be cancelled, and nothing of how long it stays', () => {
    const original = { ...aRun(TAKEN, HELD), spec: { ...SPEC, cancelRequested: true, ttlSecondsAfterFinished: 5 } };
    expect(nextRunMove(original, aCopy(), { cluster: 'acme', placed: true })).toEqual({ type: 'adjust' });
    expect(runCopy(original, 'acme').spec).toEqual({ ...SPEC, cancelRequested: true });
  });
});

/** Numbers that look random and are the same every time. */
function numbers(seed: number): (below: number) => number {
  let state = seed + 1;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
}

/** One object of an API server, written by whoever has its newest version. */
class Stored {
  versions: (Run | undefined)[] = [];
  #next = 1;

  get now(): Run | undefined {
    return this.versions.at(-1);
  }

  /** What somebody may believe who is a little behind. */
  seen(behind: number): Run | undefined {
    return this.versions[Math.max(0, this.versions.length - 1 - behind)];
  }

  put(run: Run | undefined): void {
    this.versions.push(run && { ...run, metadata: { ...run.metadata, resourceVersion: String(this.#next++) } });
  }

  /** @returns whether it was still the newest */
  change(from: Run, change: (run: Run) => Run): boolean {
    if (this.now?.metadata.resourceVersion !== from.metadata.resourceVersion) return false;
    const next = change(from);
    const isGone = next.metadata.deletionTimestamp !== undefined && (next.metadata.finalizers ?? []).length === 0;
    this.put(isGone ? undefined : next);
    return true;
  }
}

/** A Run, its copy, and everybody who writes them, in any order, each with what he saw last. */
class Race {
  readonly host = new Stored();
  readonly inside = new Stored();
  placed = false;
  executions = 0;
  ends = new Set<RunPhase>();
  readonly #random: (below: number) => number;

  constructor(seed: number) {
    this.#random = numbers(seed);
    this.inside.put(undefined);
    this.host.put(aRun());
  }

  step(isQuiet: boolean): void {
    const actors = [() => this.#place(), () => this.#place(), () => this.#work(this.host), () => this.#work(this.inside)];
    if (!isQuiet)
      actors.push(
        () => (this.placed = !this.placed),
        () => this.#admin(),
      );
    actors[this.#random(actors.length)]();
    const phase = this.host.now && phaseOf(this.host.now);
    if (phase && isTerminal(phase)) this.ends.add(phase);
  }

  /** Scheduler and runtimed of one API server: a Run that works elsewhere is none of theirs. */
  #work(server: Stored): void {
    const run = server.seen(this.#random(2));
    if (run === undefined || run.status?.placedIn !== undefined || run.metadata.deletionTimestamp !== undefined) return;
    // The label of the namespace may be seen late.
    if (server === this.host && this.placed && isUntouched(run) && this.#random(10) > 0) return;
    const next: Partial<Record<RunPhase, RunPhase[]>> = {
      Pending: ['Scheduled'],
      Scheduled: ['Running', 'Pending'],
      Running: ['Succeeded', 'Failed'],
    };
    const phases = next[phaseOf(run)];
    if (phases === undefined) return;
    const phase = phases[this.#random(phases.length)];
    const written = server.change(run, (now) => ({ ...now, status: { ...now.status, phase } }));
    if (written && phase === 'Running') this.executions++;
  }

  #place(): void {
    let original = this.host.seen(this.#random(2));
    let copy = this.inside.seen(this.#random(2));
    const decide = () => nextRunMove(original, copy, { cluster: 'acme', placed: this.placed });
    const asked = uncertain(decide(), copy);
    if (asked === 'original') original = this.host.now;
    if (asked === 'copy') copy = this.inside.now;
    const move = decide();
    this.#make(move, original, copy);
  }

  #make(move: RunMove, original: Run | undefined, copy: Run | undefined): void {
    const free = (run: Run): Run => ({ ...run, metadata: { ...run.metadata, finalizers: [] } });
    const going = (run: Run): Run => ({ ...run, metadata: { ...run.metadata, ...GOING } });
    const withStatus = (status: RunStatus) => (run: Run) => ({ ...run, status });
    switch (move.type) {
      case 'none':
      case 'adjust':
      case 'keepArtifacts':
        return;
      case 'take': {
        const held = (run: Run): Run => ({ ...run, metadata: { ...run.metadata, ...HELD } });
        // Two writes, and the process may die between them.
        if (!this.host.change(original!, held) || this.#random(5) === 0) return;
        this.host.change(this.host.now!, (run) => ({ ...run, status: { phase: phaseOf(run), placedIn: 'acme' } }));
        return;
      }
      case 'create':
        if (this.inside.now === undefined) this.inside.put({ ...runCopy(original!, 'acme'), status: undefined });
        return;
      case 'report':
      case 'giveBack':
        this.host.change(original!, withStatus(move.status));
        return;
      case 'end':
        this.host.change(original!, withStatus(endedStatus(original!, move.reason, move.message, new Date(0))));
        return;
      case 'removeCopy':
        this.inside.change(copy!, going);
        return;
      case 'freeCopy':
        this.inside.change(copy!, free);
        return;
      case 'freeOriginal':
        this.host.change(original!, free);
    }
  }

  #admin(): void {
    const copy = this.inside.now;
    if (copy && this.#random(8) === 0) this.inside.change(copy, (run) => ({ ...run, metadata: { ...run.metadata, ...GOING } }));
  }
}

it('whatever comes when, a Run executes at most once, ends once, and leaves nothing behind', () => {
  for (let seed = 0; seed < 1500; seed++) {
    const race = new Race(seed);
    for (let step = 0; step < 40; step++) race.step(false);
    for (let step = 0; step < 600; step++) race.step(true);
    const { host, inside, executions, ends } = race;
    expect({ seed, executions: executions <= 1, ends: ends.size }).toEqual({ seed, executions: true, ends: 1 });
    expect({ seed, copy: inside.now, held: host.now?.metadata.finalizers ?? [] }).toEqual({ seed, copy: undefined, held: [] });
  }
});
