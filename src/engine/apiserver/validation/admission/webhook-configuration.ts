import { isDns1035Label } from '../../../../kube/names.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { deepEqual } from '../equality.ts';
import { Findings } from '../findings.ts';
import { checkFullyQualifiedName } from '../formats.ts';
import { checkLabelSelector } from '../labels.ts';
import { path, type Path } from '../path.ts';
import type { CelCheck } from './cel-use.ts';
import { checkMatchConditions } from './match-conditions.ts';
import { checkRule } from './rules.ts';
import { checkClientConfig } from './webhook-client.ts';

const WEBHOOKS = path('webhooks');
const FAILURE_POLICIES = ['Fail', 'Ignore'];
const MATCH_POLICIES = ['Equivalent', 'Exact'];
const NO_SIDE_EFFECTS = ['None', 'NoneOnDryRun'];
const ALL_SIDE_EFFECTS = ['None', 'NoneOnDryRun', 'Some', 'Unknown'];
const REINVOCATION_POLICIES = ['IfNeeded', 'Never'];
const REVIEW_VERSIONS = ['v1', 'v1beta1'];

/** What newer rules forbid stays allowed in a configuration that has it already. */
interface Required {
  matchConditions: boolean;
  noSideEffects: boolean;
  recognizedVersion: boolean;
  uniqueNames: boolean;
  selectorValues: boolean;
}

function requirementsFor(webhooks: Json[], old: Json[] | undefined): Required {
  if (old === undefined) {
    return { matchConditions: true, noSideEffects: true, recognizedVersion: true, uniqueNames: true, selectorValues: true };
  }
  const sameConditions = webhooks.length === old.length && old.every((h, i) => deepEqual(h.matchConditions, webhooks[i].matchConditions));
  const findings = new Findings();
  for (const hook of old) {
    checkLabelSelector(findings, hook.namespaceSelector, WEBHOOKS);
    checkLabelSelector(findings, hook.objectSelector, WEBHOOKS);
  }
  return {
    matchConditions: !sameConditions,
    noSideEffects: old.every((h) => NO_SIDE_EFFECTS.includes(h.sideEffects)),
    recognizedVersion: old.every((h) => {
      const versions: string[] = h.admissionReviewVersions ?? [];
      return versions.length === 0 || versions.some((v) => REVIEW_VERSIONS.includes(v));
    }),
    uniqueNames: new Set(old.map((h) => h.name)).size === old.length,
    selectorValues: findings.count === 0,
  };
}

export function validateWebhookConfiguration(
  out: Findings,
  configuration: KubeObject,
  old: KubeObject | undefined,
  check: CelCheck | undefined,
): void {
  const webhooks: Json[] = configuration.webhooks ?? [];
  const required = requirementsFor(webhooks, old === undefined ? undefined : (old.webhooks ?? []));
  const names = new Set<string>();
  webhooks.forEach((hook, i) => {
    const at = WEBHOOKS.index(i);
    checkWebhook(out, hook, required, check, at);
    checkVersions(out, hook.admissionReviewVersions ?? [], required.recognizedVersion, at.child('admissionReviewVersions'));
    if (!required.uniqueNames || !hook.name) return;
    if (names.has(hook.name)) out.duplicate(at.child('name'), hook.name);
    names.add(hook.name);
  });
}

function checkChoice(out: Findings, value: string | undefined, supported: string[], at: Path): void {
  if (value !== undefined && !supported.includes(value)) out.notSupported(at, value, supported);
}

function checkWebhook(out: Findings, hook: Json, required: Required, check: CelCheck | undefined, at: Path): void {
  checkFullyQualifiedName(out, hook.name ?? '', at.child('name'));
  (hook.rules ?? []).forEach((rule: Json, i: number) => checkRule(out, rule, at.child('rules').index(i)));
  checkChoice(out, hook.failurePolicy, FAILURE_POLICIES, at.child('failurePolicy'));
  checkChoice(out, hook.matchPolicy, MATCH_POLICIES, at.child('matchPolicy'));
  const sideEffects = required.noSideEffects ? NO_SIDE_EFFECTS : ALL_SIDE_EFFECTS;
  if (hook.sideEffects === undefined) out.required(at.child('sideEffects'), `must specify one of ${sideEffects.join(', ')}`);
  checkChoice(out, hook.sideEffects, sideEffects, at.child('sideEffects'));
  const seconds = hook.timeoutSeconds;
  if (seconds > 30 || seconds < 1) {
    out.invalid(at.child('timeoutSeconds'), seconds, 'the timeout value must be between 1 and 30 seconds');
  }
  const options = { allowInvalidValues: !required.selectorValues };
  checkLabelSelector(out, hook.namespaceSelector, at.child('namespaceSelector'), options);
  checkLabelSelector(out, hook.objectSelector, at.child('objectSelector'), options);
  checkChoice(out, hook.reinvocationPolicy, REINVOCATION_POLICIES, at.child('reinvocationPolicy'));
  checkClientConfig(out, hook.clientConfig ?? {}, at.child('clientConfig'));
  if (required.matchConditions) checkMatchConditions(out, hook.matchConditions ?? [], false, check, at.child('matchConditions'));
}

function checkVersions(out: Findings, versions: string[], mustRecognize: boolean, at: Path): void {
  const list = REVIEW_VERSIONS.join(', ');
  if (versions.length === 0) return out.required(at, `must specify one of ${list}`);
  const seen = new Set<string>();
  versions.forEach((version, i) => {
    if (seen.has(version)) return out.invalid(at.index(i), version, 'duplicate version');
    seen.add(version);
    out.invalidEach(at.index(i), version, isDns1035Label(version));
  });
  if (mustRecognize && !versions.some((v) => REVIEW_VERSIONS.includes(v))) {
    out.invalid(at, versions, `must include at least one of ${list}`);
  }
}
