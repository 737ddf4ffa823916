import { isPathSegmentName } from '../../../../kube/names.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkNonnegative } from '../formats.ts';
import { path, type Path } from '../path.ts';
import { checkNonnegativeQuantity } from '../quantities.ts';
import { checkMetrics } from './metrics.ts';

const SPEC = path('spec');
const STATUS = path('status');
const SELECT_POLICIES = ['Disabled', 'Max', 'Min'];
const POLICY_TYPES = ['Percent', 'Pods'];
const MAX_PERIOD = 1800;
const MAX_WINDOW = 3600;

export interface ReferenceOptions {
  allowEmptyGroup: boolean;
  allowInvalidVersion: boolean;
}

/** In the form of autoscaling/v2; objects of v1 have no metrics or behavior but the same limits and target. */
export function validateHorizontalPodAutoscaler(out: Findings, object: KubeObject, old: KubeObject | undefined, subresource: string): void {
  if (subresource === 'status') {
    checkNonnegative(out, object.status?.currentReplicas, STATUS.child('currentReplicas'));
    return checkNonnegative(out, object.status?.desiredReplicas, STATUS.child('desiredReplicas'));
  }
  const spec = object.spec ?? {};
  const { minReplicas, maxReplicas = 0, scaleTargetRef = {} } = spec;
  const lowest = old?.spec?.minReplicas === 0 ? 0 : 1;
  if (minReplicas < lowest) out.invalid(SPEC.child('minReplicas'), minReplicas, `must be greater than or equal to ${lowest}`);
  if (maxReplicas < 1) out.invalid(SPEC.child('maxReplicas'), maxReplicas, 'must be greater than 0');
  if (maxReplicas < minReplicas) out.invalid(SPEC.child('maxReplicas'), maxReplicas, 'must be greater than or equal to `minReplicas`');
  checkReference(out, scaleTargetRef, targetOptions(scaleTargetRef, old?.spec?.scaleTargetRef), SPEC.child('scaleTargetRef'));
  checkMetrics(out, spec.metrics ?? [], minReplicas, metricOptions(old), SPEC.child('metrics'));
  for (const direction of ['scaleUp', 'scaleDown']) {
    const rules = spec.behavior?.[direction];
    if (rules !== undefined) checkScalingRules(out, rules, SPEC.child('behavior', direction));
  }
}

function targetOptions(ref: Json, old: Json): ReferenceOptions {
  const unchanged = old !== undefined && (old.apiVersion ?? '') === (ref.apiVersion ?? '') && (old.kind ?? '') === (ref.kind ?? '');
  return { allowInvalidVersion: unchanged, allowEmptyGroup: !unchanged && ref.kind === 'ReplicationController' };
}

function metricOptions(old: KubeObject | undefined): ReferenceOptions {
  const options = { allowInvalidVersion: false, allowEmptyGroup: true };
  const wasInvalid = (old?.spec?.metrics ?? []).some(
    (m: Json) => m.type === 'Object' && m.object !== undefined && versionError(m.object.describedObject ?? {}, options) !== undefined,
  );
  return { ...options, allowInvalidVersion: wasInvalid };
}

function versionError(ref: Json, options: ReferenceOptions): string | undefined {
  if (options.allowInvalidVersion) return undefined;
  const version: string = ref.apiVersion ?? '';
  const slashes = version === '/' ? 0 : version.split('/').length - 1;
  if (slashes > 1) return `unexpected GroupVersion string: ${version}`;
  const group = slashes === 1 ? version.slice(0, version.indexOf('/')) : '';
  return group === '' && !options.allowEmptyGroup ? 'apiVersion must specify API group' : undefined;
}

export function checkReference(out: Findings, ref: Json, options: ReferenceOptions, at: Path): void {
  for (const field of ['kind', 'name']) {
    if (!ref[field]) out.required(at.child(field));
    else out.invalidEach(at.child(field), ref[field], isPathSegmentName(ref[field]));
  }
  const error = versionError(ref, options);
  if (error !== undefined) out.invalid(at.child('apiVersion'), ref.apiVersion ?? '', error);
}

function checkScalingRules(out: Findings, rules: Json, at: Path): void {
  const { stabilizationWindowSeconds: seconds, selectPolicy, policies = [], tolerance } = rules;
  const windowAt = at.child('stabilizationWindowSeconds');
  if (seconds < 0) out.invalid(windowAt, seconds, 'must be greater than or equal to zero');
  if (seconds > MAX_WINDOW) out.invalid(windowAt, seconds, `must be less than or equal to ${MAX_WINDOW}`);
  if (selectPolicy !== undefined && !SELECT_POLICIES.includes(selectPolicy)) {
    out.notSupported(at.child('selectPolicy'), selectPolicy, SELECT_POLICIES);
  }
  if (policies.length === 0) out.required(at.child('policies'), 'must specify at least one Policy');
  policies.forEach((policy: Json, i: number) => checkScalingPolicy(out, policy, at.child('policies').index(i)));
  if (tolerance !== undefined) checkNonnegativeQuantity(out, tolerance, at.child('tolerance'));
}

function checkScalingPolicy(out: Findings, { type = '', value = 0, periodSeconds = 0 }: Json, at: Path): void {
  if (!POLICY_TYPES.includes(type)) out.notSupported(at.child('type'), type, POLICY_TYPES);
  if (value <= 0) out.invalid(at.child('value'), value, 'must be greater than zero');
  if (periodSeconds <= 0) out.invalid(at.child('periodSeconds'), periodSeconds, 'must be greater than zero');
  if (periodSeconds > MAX_PERIOD) out.invalid(at.child('periodSeconds'), periodSeconds, `must be less than or equal to ${MAX_PERIOD}`);
}

/** The body of a scale subresource. */
export function validateScale(out: Findings, scale: KubeObject): void {
  checkNonnegative(out, scale.spec?.replicas, SPEC.child('replicas'));
}
