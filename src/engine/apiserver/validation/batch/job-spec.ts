import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkDomainPrefixedPath, checkNonnegative } from '../formats.ts';
import { internalForm } from '../internal-form.ts';
import type { Path } from '../path.ts';
import type { PodOptions } from '../pod/options.ts';
import { checkPodTemplate } from '../pod/template.ts';
import { checkPodFailurePolicy, checkSuccessPolicy } from './job-policies.ts';

export interface JobSpecOptions {
  pod: PodOptions;
  allowInvalidSelectorValues: boolean;
}

const MAX_INDEXED = 100_000;
const MANY_COMPLETIONS = 100_000;
const HIGH_COMPLETIONS_LIMIT = 10_000;
const MAX_MANAGED_BY = 63;

/** Shared by Jobs and the templates of CronJobs. */
export function checkJobSpec(out: Findings, spec: Json, at: Path, options: PodOptions): void {
  for (const field of [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  ]) {
    if (spec[field] < 0) checkNonnegative(out, spec[field], at.child(field));
  }
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    out.required(at.child('backoffLimitPerIndex'), 'when maxFailedIndexes is specified');
  }
  if (spec.managedBy !== undefined) {
    checkDomainPrefixedPath(out, spec.managedBy, at.child('managedBy'));
    if (spec.managedBy.length > MAX_MANAGED_BY) out.tooLong(at.child('managedBy'), MAX_MANAGED_BY);
  }
  checkCompletionMode(out, spec, at);
  if (spec.podFailurePolicy !== undefined) checkPodFailurePolicy(out, spec, at.child('podFailurePolicy'));
  if (spec.successPolicy !== undefined) {
    if (spec.completionMode === 'Indexed') checkSuccessPolicy(out, spec, at.child('successPolicy'));
    else {
      const form = internalForm('batch.SuccessPolicy', spec.successPolicy);
      out.invalid(at.child('successPolicy'), form, 'requires indexed completion mode');
    }
  }
  checkReplacementPolicy(out, spec, at.child('podReplacementPolicy'));
  checkPodTemplate(out, spec.template ?? {}, at.child('template'), options);
  checkRestartPolicy(out, spec, at.child('template', 'spec', 'restartPolicy'));
}

function checkCompletionMode(out: Findings, spec: Json, at: Path): void {
  const { completionMode: mode } = spec;
  if (mode !== undefined && mode !== 'NonIndexed' && mode !== 'Indexed') {
    out.notSupported(at.child('completionMode'), mode, ['NonIndexed', 'Indexed']);
  }
  if (mode === 'Indexed') checkIndexed(out, spec, at);
  else if (mode === undefined || mode === 'NonIndexed') {
    for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes']) {
      if (spec[field] !== undefined) out.invalid(at.child(field), spec[field], 'requires indexed completion mode');
    }
  }
}

function checkIndexed(out: Findings, spec: Json, at: Path): void {
  const { completions, parallelism, maxFailedIndexes, backoffLimitPerIndex } = spec;
  const [parallelismAt, failedAt] = [at.child('parallelism'), at.child('maxFailedIndexes')];
  if (completions === undefined) out.required(at.child('completions'), 'when completion mode is Indexed');
  if (parallelism > MAX_INDEXED) {
    out.invalid(parallelismAt, parallelism, `must be less than or equal to ${MAX_INDEXED} when completion mode is Indexed`);
  }
  if (maxFailedIndexes > completions) out.invalid(failedAt, maxFailedIndexes, 'must be less than or equal to completions');
  if (maxFailedIndexes > MAX_INDEXED) out.invalid(failedAt, maxFailedIndexes, `must be less than or equal to ${MAX_INDEXED}`);
  if (!(completions > MANY_COMPLETIONS) || backoffLimitPerIndex === undefined) return;
  if (maxFailedIndexes === undefined) out.required(failedAt, `must be specified when completions is above ${MANY_COMPLETIONS}`);
  const limit = `must be less than or equal to ${HIGH_COMPLETIONS_LIMIT}`;
  const detail = `${limit} when completions are above ${MANY_COMPLETIONS} and used with backoff limit per index`;
  if (parallelism > HIGH_COMPLETIONS_LIMIT) out.invalid(parallelismAt, parallelism, detail);
  if (maxFailedIndexes > HIGH_COMPLETIONS_LIMIT) out.invalid(failedAt, maxFailedIndexes, detail);
}

function checkReplacementPolicy(out: Findings, spec: Json, at: Path): void {
  const policy = spec.podReplacementPolicy;
  if (policy === undefined || policy === 'Failed') return;
  if (spec.podFailurePolicy !== undefined) out.notSupported(at, policy, ['Failed']);
  else if (policy !== 'TerminatingOrFailed') out.notSupported(at, policy, ['Failed', 'TerminatingOrFailed']);
}

function checkRestartPolicy(out: Findings, spec: Json, at: Path): void {
  const policy: string = spec.template?.spec?.restartPolicy ?? '';
  if (policy === 'Always' || policy === '') out.required(at, 'valid values: "OnFailure", "Never"');
  else if (policy !== 'OnFailure' && policy !== 'Never') out.notSupported(at, policy, ['OnFailure', 'Never']);
  else if (spec.podFailurePolicy !== undefined && policy !== 'Never') {
    out.invalid(at, policy, 'only "Never" is supported when podFailurePolicy is specified');
  }
}
