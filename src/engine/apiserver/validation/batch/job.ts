import { isDns1123Label } from '../../../../kube/names.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { checkSelectorImmutable } from '../apps/selector-template.ts';
import { deepEqual } from '../equality.ts';
import type { Findings } from '../findings.ts';
import { checkImmutable, checkImmutableForm } from '../formats.ts';
import { internalForm, mapForm, selectorForm } from '../internal-form.ts';
import { checkLabelSelector, hasInvalidSelectorValue, selectorIsUsable, selectorMatches } from '../labels.ts';
import { path } from '../path.ts';
import { templateOptions } from '../pod/template.ts';
import { checkJobSpec, type JobSpecOptions } from './job-spec.ts';
import { checkJobStatusUpdate } from './job-status.ts';

const SPEC = path('spec');
const TEMPLATE_METADATA = SPEC.child('template', 'metadata');

export function validateJob(out: Findings, job: KubeObject, old: KubeObject | undefined, subresource: string): void {
  if (subresource === 'status' && old !== undefined) return checkJobStatusUpdate(out, job, old);
  const options = jobOptions(old);
  checkGeneratedSelector(out, job, old);
  checkWholeSpec(out, job.spec ?? {}, options);
  checkHostNames(out, job);
  if (old !== undefined) checkJobUpdate(out, job.spec ?? {}, old, options);
}

function jobOptions(old: KubeObject | undefined): JobSpecOptions {
  const pod = templateOptions(old?.spec?.template);
  return { pod, allowInvalidSelectorValues: pod.allowInvalidSelectorValues || hasInvalidSelectorValue(old?.spec?.selector) };
}

const LEGACY_UID = 'controller-uid';
const LEGACY_NAME = 'job-name';
const UID = 'batch.kubernetes.io/controller-uid';
const NAME = 'batch.kubernetes.io/job-name';

/** Unless the user brings a selector, the server made one from the Job's uid; it must still be the one. */
function checkGeneratedSelector(out: Findings, job: KubeObject, old: KubeObject | undefined): void {
  const spec = job.spec ?? {};
  if (spec.manualSelector === true || spec.selector === undefined) return;
  const { uid = '', name = '' } = job.metadata;
  if (uid === '') out.required(path('metadata', 'uid'));
  const expected: Record<string, string> = { [LEGACY_UID]: uid, [LEGACY_NAME]: name };
  const oldLabels = old?.spec?.template?.metadata?.labels;
  const prefixed = old === undefined || (oldLabels?.[NAME] !== undefined && oldLabels?.[UID] !== undefined);
  if (prefixed) Object.assign(expected, { [UID]: uid, [NAME]: name });
  const labels = spec.template?.metadata?.labels;
  for (const key in expected) {
    const at = TEMPLATE_METADATA.child('labels').key(key);
    if (labels?.[key] === undefined) out.required(at, `must be '${expected[key]}'`);
    else if (labels[key] !== expected[key]) out.invalid(at, mapForm(labels), `must be '${expected[key]}'`);
  }
  if (selectorIsUsable(spec.selector) && !selectorMatches(spec.selector, expected)) {
    out.invalid(SPEC.child('selector'), selectorForm(spec.selector), '`selector` not auto-generated');
  }
}

function checkWholeSpec(out: Findings, spec: Json, options: JobSpecOptions): void {
  checkJobSpec(out, spec, SPEC, options.pod);
  const { selector } = spec;
  if (selector === undefined) out.required(SPEC.child('selector'));
  else checkLabelSelector(out, selector, SPEC.child('selector'), { allowInvalidValues: options.allowInvalidSelectorValues });
  const labels = spec.template?.metadata?.labels;
  if (selectorIsUsable(selector) && !selectorMatches(selector, labels)) {
    out.invalid(TEMPLATE_METADATA.child('labels'), mapForm(labels), '`selector` does not match template `labels`');
  }
}

function checkHostNames(out: Findings, job: KubeObject): void {
  const { completionMode, completions } = job.spec ?? {};
  if (completionMode !== 'Indexed' || !(completions > 0)) return;
  const name = job.metadata.name ?? '';
  const longest = `${name}-${completions - 1}`;
  if (isDns1123Label(longest).length > 0) {
    out.invalid(path('metadata', 'name'), name, `will not able to create pod with invalid DNS label: ${longest}`);
  }
}

function checkJobUpdate(out: Findings, spec: Json, old: KubeObject, options: JobSpecOptions): void {
  const oldSpec = old.spec ?? {};
  checkWholeSpec(out, spec, options);
  checkCompletions(out, spec, oldSpec);
  checkSelectorImmutable(out, spec.selector, oldSpec.selector, SPEC.child('selector'));
  checkTemplateUpdate(out, spec.template ?? {}, oldSpec.template ?? {}, old);
  checkImmutable(out, spec.completionMode, oldSpec.completionMode, SPEC.child('completionMode'));
  checkFormImmutable(out, 'batch.PodFailurePolicy', 'podFailurePolicy', spec, oldSpec);
  checkImmutable(out, spec.backoffLimitPerIndex, oldSpec.backoffLimitPerIndex, SPEC.child('backoffLimitPerIndex'));
  checkImmutable(out, spec.managedBy, oldSpec.managedBy, SPEC.child('managedBy'));
  checkFormImmutable(out, 'batch.SuccessPolicy', 'successPolicy', spec, oldSpec);
}

function checkFormImmutable(out: Findings, type: string, field: string, spec: Json, oldSpec: Json): void {
  const print = (): Json => (spec[field] === undefined ? null : internalForm(type, spec[field]));
  checkImmutableForm(out, type, spec[field], oldSpec[field], SPEC.child(field), print);
}

/** Indexed Jobs scale by both numbers at once. */
function checkCompletions(out: Findings, spec: Json, oldSpec: Json): void {
  const at = SPEC.child('completions');
  if (spec.completionMode !== 'Indexed') return checkImmutable(out, spec.completions, oldSpec.completions, at);
  if (spec.completions === oldSpec.completions || spec.completions === undefined) return;
  if (spec.completions !== spec.parallelism) out.invalid(at, spec.completions, 'can only be modified in tandem with spec.parallelism');
}

function checkTemplateUpdate(out: Findings, template: Json, oldTemplate: Json, old: KubeObject): void {
  const held = old.spec?.suspend === true && old.status?.startTime === undefined;
  const before = held ? withSchedulingOf(oldTemplate, template) : oldTemplate;
  const print = (): Json => internalForm('PodTemplateSpec', template);
  checkImmutableForm(out, 'PodTemplateSpec', template, before, SPEC.child('template'), print);
}

/** A suspended Job that never ran may still be told where to run. */
function withSchedulingOf(oldTemplate: Json, template: Json): Json {
  const { nodeSelector, tolerations, schedulingGates, affinity } = template.spec ?? {};
  const { annotations, labels } = template.metadata ?? {};
  const { nodeAffinity: _, ...rest } = oldTemplate.spec?.affinity ?? {};
  const merged = affinity === undefined ? rest : { ...rest, nodeAffinity: affinity.nodeAffinity };
  const noAffinity = affinity === undefined && deepEqual(rest, {});
  return {
    ...oldTemplate,
    metadata: { ...oldTemplate.metadata, annotations, labels },
    spec: { ...oldTemplate.spec, nodeSelector, tolerations, schedulingGates, affinity: noAffinity ? undefined : merged },
  };
}
