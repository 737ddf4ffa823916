import { findCondition, setCondition, type Condition, type ConditionStatus } from '../../kube/conditions.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import type { Clock } from '../../lib/clock.ts';
import { errorText } from '../../lib/log.ts';
import type { ControllerMetrics } from '../metrics.ts';
import { done, type Outcome } from './outcome.ts';

/** One concern of a reconciler, named after the condition that it makes true. */
export interface Step<T extends KubeObject = KubeObject> {
  /** The condition's type: `ParentResolved`. */
  name: string;
  /** Those behind it are tried whether it is done or not. */
  keepsNobodyWaiting?: boolean;
  /** Guards first, at most one effect, an outcome. May change the draft's status; everything else of it is frozen. */
  run(draft: T, context: StepContext): Promise<Outcome> | Outcome;
}

export interface StepContext {
  signal: AbortSignal;
  now: () => number;
}

export interface StepsRun {
  /** That of the first step that was not done, or the last one's. */
  outcome: Outcome;
  /** Set when a step threw; the condition tells it too. */
  error?: unknown;
}

export interface StepsEnvironment {
  clock: Clock;
  signal: AbortSignal;
  metrics: ControllerMetrics;
}

/** Why a condition is Unknown whose step was not reached. */
export const NOT_REACHED = 'NotReached';
/** Why a condition is False whose step failed unexpectedly. */
export const STEP_FAILED = 'Error';

/** Runs steps in order until one is not done, and writes the outcomes into the draft as conditions, with Ready as their sum. */
export async function runSteps<T extends KubeObject>(
  draft: T,
  steps: readonly Step<T>[],
  environment: StepsEnvironment,
): Promise<StepsRun> {
  const { clock, signal } = environment;
  let run: StepsRun = { outcome: done('Ready') };
  let reached = 0;
  for (const step of steps) {
    reached++;
    const one = await runStep(step, draft, environment, { signal, now: () => clock.now() });
    // Somebody else wrote first: what was decided here is about an old state, so nothing is reported.
    if (one.error !== undefined && isStatusError(one.error, 'Conflict')) return one;
    report(draft, step.name, one.outcome, clock.now());
    if (run.outcome.type === 'done') run = one;
    if (one.outcome.type !== 'done' && step.keepsNobodyWaiting !== true) break;
  }
  for (const step of steps.slice(reached)) reportNotReached(draft, step.name, steps[reached - 1].name, clock.now());
  const ready: Outcome = run.outcome.type === 'done' ? done('Ready') : run.outcome;
  report(draft, 'Ready', ready, clock.now());
  const status = statusOf(draft);
  if (draft.metadata.generation !== undefined) status.observedGeneration = draft.metadata.generation;
  return run;
}

async function runStep<T extends KubeObject>(
  step: Step<T>,
  draft: T,
  environment: StepsEnvironment,
  context: StepContext,
): Promise<StepsRun> {
  const { clock, metrics } = environment;
  const started = clock.monotonic();
  let run: StepsRun;
  try {
    run = { outcome: await step.run(draft, context) };
  } catch (error) {
    run = { outcome: { type: 'waiting', reason: STEP_FAILED, message: errorText(error) }, error };
  }
  metrics.step(step.name, run.error === undefined ? run.outcome.type : 'error', (clock.monotonic() - started) / 1000);
  return run;
}

type StatusWithConditions = { conditions?: Condition[]; observedGeneration?: number };

function statusOf(draft: KubeObject): StatusWithConditions {
  draft.status ??= {};
  return draft.status as StatusWithConditions;
}

function report(draft: KubeObject, type: string, outcome: Outcome, now: number): void {
  write(draft, type, outcome.type === 'done' ? 'True' : 'False', outcome.reason, outcome.message, now);
}

/** What was true before stays so until its step says otherwise; what was never tried is Unknown. */
function reportNotReached(draft: KubeObject, type: string, blocker: string, now: number): void {
  const known = findCondition(statusOf(draft).conditions, type);
  if (known && known.reason !== NOT_REACHED) return;
  write(draft, type, 'Unknown', NOT_REACHED, `waits for ${blocker}`, now);
}

function write(draft: KubeObject, type: string, status: ConditionStatus, reason: string, message: string, now: number): void {
  const conditions = (statusOf(draft).conditions ??= []);
  setCondition(conditions, { type, status, reason, message, observedGeneration: draft.metadata.generation }, new Date(now));
}
