import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkPositive } from '../formats.ts';
import { checkLabelName, checkLabelSelector } from '../labels.ts';
import type { Path } from '../path.ts';
import type { PodOptions } from './options.ts';

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'];
const INCLUSION_POLICIES = ['Honor', 'Ignore'];

/** Whether each constraint has another one like it further down. */
function repeatedLater(constraints: Json[]): boolean[] {
  const seen = new Set<string>();
  return constraints
    .toReversed()
    .map(({ topologyKey = '', whenUnsatisfiable = '' }) => {
      const identity = `${whenUnsatisfiable}/${topologyKey}`;
      const repeated = seen.has(identity);
      seen.add(identity);
      return repeated;
    })
    .toReversed();
}

export function checkTopologySpread(out: Findings, constraints: Json[], at: Path, options: PodOptions): void {
  if (constraints.length === 0) return;
  const repeated = repeatedLater(constraints);
  for (let i = 0; i < constraints.length; i++) {
    const constraint = constraints[i];
    const { topologyKey = '', whenUnsatisfiable = '', minDomains } = constraint;
    const itemAt = at.index(i);
    checkPositive(out, constraint.maxSkew, itemAt.child('maxSkew'));
    if (topologyKey === '') out.required(itemAt.child('topologyKey'), 'can not be empty');
    if (!ACTIONS.includes(whenUnsatisfiable)) out.notSupported(itemAt.child('whenUnsatisfiable'), whenUnsatisfiable, ACTIONS);
    if (repeated[i]) out.duplicate(itemAt.child('{topologyKey, whenUnsatisfiable}'), `{${topologyKey}, ${whenUnsatisfiable}}`);
    if (minDomains !== undefined) {
      checkPositive(out, minDomains, itemAt.child('minDomains'));
      if (whenUnsatisfiable !== 'DoNotSchedule') {
        const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
        out.invalid(itemAt.child('minDomains'), minDomains, detail);
      }
    }
    for (const field of ['nodeAffinityPolicy', 'nodeTaintsPolicy']) {
      const policy = constraint[field];
      if (policy !== undefined && !INCLUSION_POLICIES.includes(policy)) out.notSupported(itemAt.child(field), policy, INCLUSION_POLICIES);
    }
    checkKeys(out, constraint, itemAt, options);
    if (!options.allowInvalidSpreadSelector) checkLabelSelector(out, constraint.labelSelector, itemAt.child('labelSelector'));
  }
}

function checkKeys(out: Findings, constraint: Json, at: Path, options: PodOptions): void {
  const { matchLabelKeys, labelSelector } = constraint;
  if (options.oldViolatesMatchLabelKeys) checkKeysNotInSelector(out, matchLabelKeys ?? [], labelSelector, at.child('matchLabelKeys'));
  else checkMatchLabelKeys(out, matchLabelKeys, undefined, labelSelector, at);
}

const NO_SELECTOR = 'must not be specified when labelSelector is not set';

function checkKeysNotInSelector(out: Findings, keys: string[], selector: Json, at: Path): void {
  if (keys.length === 0) return;
  if (selector === undefined) out.forbidden(at, NO_SELECTOR);
  const selected = new Set([...Object.keys(selector?.matchLabels ?? {}), ...(selector?.matchExpressions ?? []).map((e: Json) => e.key)]);
  keys.forEach((key, i) => {
    checkLabelName(out, key, at.index(i));
    if (selected.has(key)) out.invalid(at.index(i), key, 'exists in both matchLabelKeys and labelSelector');
  });
}

function checkLabelKeys(out: Findings, keys: string[] | undefined, selector: Json, at: Path): void {
  if (keys === undefined || keys.length === 0) return;
  if (selector === undefined) return out.forbidden(at, NO_SELECTOR);
  keys.forEach((key, i) => checkLabelName(out, key, at.index(i)));
}

/** Keys whose values on the Pod itself are merged into the selector. */
export function checkMatchLabelKeys(
  out: Findings,
  match: string[] | undefined,
  mismatch: string[] | undefined,
  selector: Json,
  at: Path,
): void {
  if (match === undefined && mismatch === undefined) return;
  checkLabelKeys(out, match, selector, at.child('matchLabelKeys'));
  checkLabelKeys(out, mismatch, selector, at.child('mismatchLabelKeys'));
  const matchIndex = new Map((match ?? []).map((key, i) => [key, i]));
  const mismatched = new Set(mismatch);
  const selected = new Set(Object.keys(selector?.matchLabels ?? {}));
  for (const { key } of selector?.matchExpressions ?? []) {
    const i = matchIndex.get(key);
    if (i !== undefined && selected.has(key)) out.invalid(at.index(i), key, 'exists in both matchLabelKeys and labelSelector');
    selected.add(key);
  }
  (match ?? []).forEach((key, i) => {
    if (mismatched.has(key)) {
      out.invalid(at.child('matchLabelKeys').index(i), key, 'exists in both matchLabelKeys and mismatchLabelKeys');
    }
  });
}
