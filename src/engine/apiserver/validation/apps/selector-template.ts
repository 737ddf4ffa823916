import type { Json } from '../../../../kube/object.ts';
import { semanticEqual } from '../equality.ts';
import type { Findings } from '../findings.ts';
import { FIELD_IMMUTABLE } from '../formats.ts';
import { mapForm, selectorForm } from '../internal-form.ts';
import { checkLabelSelector, selectorIsEmpty, selectorIsUsable, selectorMatches } from '../labels.ts';
import type { Path } from '../path.ts';
import type { PodOptions } from '../pod/options.ts';
import { checkPodTemplate } from '../pod/template.ts';

/** Workloads own Pods by a selector, so it must be there, mean something, and match their own template. */
export function checkWorkloadSelector(out: Findings, selector: Json, kind: string, at: Path): void {
  if (selector === undefined) return out.required(at);
  checkLabelSelector(out, selector, at);
  if (selectorIsEmpty(selector)) out.invalid(at, selectorForm(selector), `empty selector is invalid for ${kind}`);
}

/** An unusable selector is reported once more, with `unusable` as the detail, and the template is not looked at. */
export function checkSelectedTemplate(
  out: Findings,
  spec: Json,
  at: Path,
  unusable: string,
  checkTemplate: (template: Json, at: Path) => void,
): void {
  if (!selectorIsUsable(spec.selector)) return out.invalid(at.child('selector'), selectorForm(spec.selector), unusable);
  checkTemplate(spec.template ?? {}, at.child('template'));
}

export function checkLabelsSelected(out: Findings, selector: Json, template: Json, at: Path): void {
  if (selector !== undefined && selectorIsEmpty(selector)) return;
  const labels = template.metadata?.labels;
  if (!selectorMatches(selector, labels)) {
    out.invalid(at.child('metadata', 'labels'), mapForm(labels), '`selector` does not match template `labels`');
  }
}

/** What ReplicaSets, and Deployments through them, ask of their template. */
export function checkReplicaSetTemplate(out: Findings, selector: Json, template: Json, at: Path, options: PodOptions): void {
  checkLabelsSelected(out, selector, template, at);
  checkPodTemplate(out, template, at, options);
  checkAlwaysRunning(out, template, 'ReplicaSet', at);
}

export function checkAlwaysRunning(out: Findings, template: Json, kind: string, at: Path): void {
  const { restartPolicy = '', activeDeadlineSeconds } = template.spec ?? {};
  if (restartPolicy !== 'Always') out.notSupported(at.child('spec', 'restartPolicy'), restartPolicy, ['Always']);
  if (activeDeadlineSeconds !== undefined) {
    out.forbidden(at.child('spec', 'activeDeadlineSeconds'), `activeDeadlineSeconds in ${kind} is not Supported`);
  }
}

export function checkSelectorImmutable(out: Findings, selector: Json, old: Json, at: Path): void {
  if (!semanticEqual('LabelSelector', selector, old)) out.invalid(at, selectorForm(selector), FIELD_IMMUTABLE);
}
