import type { Json, KubeObject } from '../../../../kube/object.ts';
import { deepEqual } from '../equality.ts';
import type { Findings } from '../findings.ts';
import { checkNonnegative } from '../formats.ts';
import { internalForm } from '../internal-form.ts';
import { path } from '../path.ts';
import { countIndexes, overlap } from './job-indexes.ts';

/** Status of Jobs is checked closely because other controllers may write it (managedBy). Each rule looks only at what changed. */
const STATUS = path('status');
const CONDITIONS = STATUS.child('conditions');

function isTrue(status: Json, type: string): boolean {
  return (status.conditions ?? []).some((c: Json) => c.type === type && c.status === 'True');
}

function isFalse(status: Json, type: string): boolean {
  return (status.conditions ?? []).some((c: Json) => c.type === type && c.status === 'False');
}

/** What the rules look at, before and after. */
class View {
  readonly spec: Json;
  readonly status: Json;
  readonly old: Json;

  constructor(job: KubeObject, old: KubeObject) {
    this.spec = job.spec ?? {};
    this.status = job.status ?? {};
    this.old = old.status ?? {};
  }

  is(type: string): boolean {
    return isTrue(this.status, type);
  }

  was(type: string): boolean {
    return isTrue(this.old, type);
  }

  turned(type: string): boolean {
    return this.is(type) !== this.was(type);
  }

  get finished(): boolean {
    return this.is('Complete') || this.is('Failed');
  }

  get finishedChanged(): boolean {
    return this.finished !== (this.was('Complete') || this.was('Failed'));
  }

  changed(field: string, absent?: Json): boolean {
    return !deepEqual(this.status[field] ?? absent, this.old[field] ?? absent);
  }
}

export function checkJobStatusUpdate(out: Findings, job: KubeObject, old: KubeObject): void {
  const view = new View(job, old);
  checkCounters(out, view.status);
  checkUncounted(out, view.status.uncountedTerminatedPods);
  checkEndConditions(out, view);
  checkCompletionTime(out, view);
  checkCriteria(out, view);
  checkFinished(out, view);
  checkIndexes(out, view);
  checkPodsOfFinished(out, view);
  checkSuccessCriteria(out, view);
  checkProgress(out, view);
}

function checkCounters(out: Findings, status: Json): void {
  for (const field of ['active', 'succeeded', 'failed', 'ready', 'terminating']) {
    if (status[field] < 0) checkNonnegative(out, status[field], STATUS.child(field));
  }
}

function checkUncounted(out: Findings, uncounted: Json): void {
  if (uncounted === undefined) return;
  const seen = new Set<string>();
  for (const field of ['succeeded', 'failed']) {
    (uncounted[field] ?? []).forEach((uid: string, i: number) => {
      const at = STATUS.child('uncountedTerminatedPods', field).index(i);
      if (uid === '') out.invalid(at, uid, 'must not be empty');
      else if (seen.has(uid)) out.duplicate(at, uid);
      else seen.add(uid);
    });
  }
}

function checkEndConditions(out: Findings, view: View): void {
  const complete = view.is('Complete');
  if ((view.turned('Complete') || view.turned('Failed')) && complete && view.is('Failed')) {
    out.invalidOmitted(CONDITIONS, 'cannot set Complete=True and Failed=true conditions');
  }
  if ((view.turned('Complete') || view.turned('FailureTarget')) && complete && view.is('FailureTarget')) {
    out.invalidOmitted(CONDITIONS, 'cannot set Complete=True and FailureTarget=true conditions');
  }
}

function checkCompletionTime(out: Findings, view: View): void {
  const { completionTime, startTime } = view.status;
  const at = STATUS.child('completionTime');
  const timeChanged = view.changed('completionTime');
  if (view.turned('Complete') || timeChanged) {
    if (completionTime !== undefined && !view.is('Complete')) {
      out.invalid(at, completionTime, 'cannot set completionTime when there is no Complete=True condition');
    }
    if (completionTime === undefined && view.is('Complete')) out.required(at, 'completionTime is required for Complete jobs');
  }
  if ((view.changed('startTime') || timeChanged) && startTime !== undefined && completionTime !== undefined) {
    if (Date.parse(completionTime) < Date.parse(startTime)) out.invalid(at, completionTime, 'must be equal to or after `startTime`');
  }
}

function checkCriteria(out: Findings, view: View): void {
  if ((view.turned('Failed') || view.changed('failedIndexes')) && view.is('Failed') && !view.is('FailureTarget')) {
    out.invalidOmitted(CONDITIONS, 'cannot set Failed=True condition without the FailureTarget=true condition');
  }
  if ((view.turned('Complete') || view.turned('SuccessCriteriaMet')) && view.is('Complete') && !view.is('SuccessCriteriaMet')) {
    out.invalidOmitted(CONDITIONS, 'cannot set Complete=True condition without the SuccessCriteriaMet=true condition');
  }
}

function checkFinished(out: Findings, view: View): void {
  const { active = 0, startTime, uncountedTerminatedPods: uncounted } = view.status;
  if (!view.finished) return;
  if ((view.finishedChanged || view.changed('active', 0)) && active > 0) {
    out.invalid(STATUS.child('active'), active, 'active>0 is invalid for finished job');
  }
  const heldEmpty = view.spec.suspend === true && view.spec.completions === 0;
  if ((view.finishedChanged || view.changed('startTime')) && !heldEmpty && startTime === undefined) {
    out.required(STATUS.child('startTime'), 'startTime is required for finished job');
  }
  const left = (uncounted?.failed ?? []).length + (uncounted?.succeeded ?? []).length;
  if ((view.finishedChanged || view.changed('uncountedTerminatedPods')) && left > 0) {
    const form = internalForm('batch.UncountedTerminatedPods', uncounted);
    out.invalid(STATUS.child('uncountedTerminatedPods'), form, 'must be empty for finished job');
  }
}

function checkIndexes(out: Findings, view: View): void {
  const { completedIndexes = '', failedIndexes } = view.status;
  const { completions, backoffLimitPerIndex } = view.spec;
  const [completedAt, failedAt] = [STATUS.child('completedIndexes'), STATUS.child('failedIndexes')];
  const [completedChanged, failedChanged] = [view.changed('completedIndexes', ''), view.changed('failedIndexes')];
  if (completedChanged && completions !== undefined) {
    const parsed = countIndexes(completedIndexes, completions);
    if (typeof parsed === 'string') out.invalid(completedAt, completedIndexes, `error parsing completedIndexes: ${parsed}`);
  }
  if (failedChanged && completions !== undefined && backoffLimitPerIndex !== undefined && failedIndexes !== undefined) {
    const parsed = countIndexes(failedIndexes, completions);
    if (typeof parsed === 'string') out.invalid(failedAt, failedIndexes, `error parsing failedIndexes: ${parsed}`);
  }
  if (completedChanged && completedIndexes !== '' && view.spec.completionMode !== 'Indexed') {
    out.invalid(completedAt, completedIndexes, 'cannot set non-empty completedIndexes when non-indexed completion mode');
  }
  if (failedChanged && backoffLimitPerIndex === undefined && failedIndexes !== undefined) {
    out.invalid(failedAt, failedIndexes, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null');
  }
  if ((failedChanged || completedChanged) && completions !== undefined && failedIndexes !== undefined) {
    const index = overlap(completedIndexes, failedIndexes, completions);
    if (index !== undefined) out.invalid(failedAt, failedIndexes, `failedIndexes and completedIndexes overlap at index: ${index}`);
  }
}

function checkPodsOfFinished(out: Findings, view: View): void {
  const { terminating, ready, active = 0 } = view.status;
  if ((view.finishedChanged || view.changed('terminating')) && terminating > 0 && view.finished) {
    out.invalid(STATUS.child('terminating'), terminating, 'terminating>0 is invalid for finished job');
  }
  if ((view.changed('ready') || view.changed('active', 0)) && ready > active) {
    out.invalid(STATUS.child('ready'), ready, 'cannot set more ready pods than active');
  }
}

function checkSuccessCriteria(out: Findings, view: View): void {
  const met = view.is('SuccessCriteriaMet');
  if (met && view.is('Failed')) out.invalidOmitted(CONDITIONS, 'cannot set SuccessCriteriaMet=True and Failed=true conditions');
  if (met && view.is('FailureTarget')) {
    out.invalidOmitted(CONDITIONS, 'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions');
  }
  if (view.spec.successPolicy !== undefined && !met && view.is('Complete')) {
    out.invalidOmitted(CONDITIONS, 'cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True');
  }
}

function checkProgress(out: Findings, view: View): void {
  const { status, old, spec } = view;
  for (const type of ['Failed', 'Complete', 'FailureTarget']) {
    if (view.was(type) && !view.is(type)) out.invalidOmitted(CONDITIONS, `cannot disable the terminal ${type}=True condition`);
  }
  const scalable = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  for (const field of scalable ? ['failed'] : ['failed', 'succeeded']) {
    if ((status[field] ?? 0) < (old[field] ?? 0)) {
      out.invalid(STATUS.child(field), status[field] ?? 0, `cannot decrease the ${field} counter`);
    }
  }
  if (status.completionTime !== undefined && old.completionTime !== undefined && view.changed('completionTime')) {
    out.invalid(STATUS.child('completionTime'), status.completionTime, 'field is immutable');
  }
  const resuming = view.was('Suspended') && isFalse(status, 'Suspended');
  if (!resuming && old.startTime !== undefined && view.changed('startTime') && spec.suspend !== true) {
    out.required(STATUS.child('startTime'), 'startTime cannot be removed for unsuspended job');
  }
  if (view.was('SuccessCriteriaMet') && !view.is('SuccessCriteriaMet')) {
    out.invalidOmitted(CONDITIONS, 'cannot disable the SuccessCriteriaMet=True condition');
  }
  if (view.was('Complete') && !view.was('SuccessCriteriaMet') && view.is('SuccessCriteriaMet')) {
    out.invalidOmitted(CONDITIONS, 'cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions');
  }
}
