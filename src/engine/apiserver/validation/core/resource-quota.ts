import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { FIELD_IMMUTABLE } from '../formats.ts';
import { internalForm } from '../internal-form.ts';
import { path, type Path } from '../path.ts';
import { checkResourceQuantity } from '../quantities.ts';
import { checkQuotaResourceName, isStandardQuotaResource } from '../resource-names.ts';

const SPEC = path('spec');
const STATUS = path('status');
const SCOPES = new Set([
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'VolumeAttributesClass',
  'CrossNamespacePodAffinity',
]);
const EXCLUSIVE = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];
const POD_RESOURCES = new Set(['pods', 'cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory']);

export function validateResourceQuota(out: Findings, quota: KubeObject, old: KubeObject | undefined, subresource: string): void {
  if (subresource === 'status') return checkStatus(out, quota.status ?? {});
  const spec = quota.spec ?? {};
  checkAmounts(out, spec.hard, SPEC.child('hard'));
  checkScopes(out, spec, SPEC.child('scopes'));
  if (spec.scopeSelector !== undefined) checkScopeSelector(out, spec, SPEC.child('scopeSelector', 'matchExpressions'));
  if (old === undefined) return checkStatus(out, quota.status ?? {});
  const [scopes, oldScopes] = [new Set<string>(spec.scopes ?? []), new Set<string>(old.spec?.scopes ?? [])];
  if (scopes.size !== oldScopes.size || [...scopes].some((scope) => !oldScopes.has(scope))) {
    out.invalid(SPEC.child('scopes'), spec.scopes, FIELD_IMMUTABLE);
  }
}

function checkStatus(out: Findings, status: Json): void {
  checkAmounts(out, status.hard, STATUS.child('hard'));
  checkAmounts(out, status.used, STATUS.child('used'));
}

function checkAmounts(out: Findings, amounts: Record<string, string> | undefined, at: Path): void {
  for (const name in amounts) {
    checkQuotaResourceName(out, name, at.key(name));
    checkResourceQuantity(out, name, amounts[name], at.key(name));
  }
}

/** Whether counting this resource can be limited to the scope. */
function scopeFits(scope: string, resource: string): boolean {
  switch (scope) {
    case 'BestEffort':
      return resource === 'pods';
    case 'VolumeAttributesClass':
      return resource === 'persistentvolumeclaims' || resource === 'requests.storage';
    case 'Terminating':
    case 'NotTerminating':
    case 'NotBestEffort':
    case 'PriorityClass':
    case 'CrossNamespacePodAffinity':
      return POD_RESOURCES.has(resource);
    default:
      return true;
  }
}

function standardResources(spec: Json): string[] {
  return Object.keys(spec.hard ?? {}).filter(isStandardQuotaResource);
}

function checkScopes(out: Findings, spec: Json, at: Path): void {
  const scopes: string[] = spec.scopes ?? [];
  const resources = scopes.length === 0 ? [] : standardResources(spec);
  for (const scope of scopes) {
    if (!SCOPES.has(scope)) out.invalid(at, scopes, 'unsupported scope');
    for (const name of resources) if (!scopeFits(scope, name)) out.invalid(at, scopes, 'unsupported scope applied to resource');
  }
  for (const pair of EXCLUSIVE) if (pair.every((scope) => scopes.includes(scope))) out.invalid(at, scopes, 'conflicting scopes');
}

const EXISTS_ONLY = new Set(['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity']);

function checkScopeSelector(out: Findings, spec: Json, at: Path): void {
  const expressions: Json[] = spec.scopeSelector.matchExpressions ?? [];
  const resources = standardResources(spec);
  for (const { scopeName = '', operator = '', values } of expressions) {
    if (!SCOPES.has(scopeName)) out.invalid(at.child('scopeName'), scopeName, 'unsupported scope');
    for (const name of resources) {
      if (!scopeFits(scopeName, name))
        out.invalid(at, internalForm('ScopeSelector', spec.scopeSelector), 'unsupported scope applied to resource');
    }
    if (EXISTS_ONLY.has(scopeName) && operator !== 'Exists') {
      const names =
        'ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort';
      const detail = `must be 'Exists' when scope is any of ${names} or ResourceQuotaScopeCrossNamespacePodAffinity`;
      out.invalid(at.child('operator'), operator, detail);
    }
    checkOperator(out, operator, values, at);
  }
  const names = expressions.map((e) => e.scopeName);
  for (const pair of EXCLUSIVE) if (pair.every((scope) => names.includes(scope))) out.invalid(at, spec.scopes, 'conflicting scopes');
}

function checkOperator(out: Findings, operator: string, values: string[] | undefined, at: Path): void {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if ((values ?? []).length === 0) {
        out.required(at.child('values'), "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector");
      }
      return;
    case 'Exists':
    case 'DoesNotExist':
      if ((values ?? []).length > 0) {
        out.invalid(at.child('values'), values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector");
      }
      return;
    default:
      out.invalid(at.child('operator'), operator, 'not a valid selector operator');
  }
}
