import type { GroupResource, KubeObject } from '../../../../kube/object.ts';
import { Quantity } from '../../../../kube/quantity.ts';
import type { AdmissionRequest } from '../admission.ts';
import type { ResourceList } from '../../../../kube/resource-list.ts';

/** Measures what objects of one resource use of a quota. */
export interface Evaluator {
  resource: GroupResource;
  /** Whether such a request can change what is used. */
  handles(request: AdmissionRequest): boolean;
  /** Whether a quota's amount by this name is about objects of this resource. */
  tracks(name: string): boolean;
  /** Whether an object is in a quota's scope. */
  inScope(object: KubeObject, scope: ScopeRequirement): boolean;
  /** What the object must say because quotas count these names; undefined when it does. */
  missing?(object: KubeObject, names: string[]): string | undefined;
  usage(object: KubeObject): ResourceList;
}

export interface ScopeRequirement {
  scopeName: string;
  operator: string;
  values?: string[];
}

export const ONE = Quantity.of(1);

export function noScope(): boolean {
  return false;
}

/** Both spellings of a quota's scopes; an object must be in all of them. */
export function scopesOf(quota: KubeObject): ScopeRequirement[] {
  const scopes: string[] = quota.spec?.scopes ?? [];
  const selected: ScopeRequirement[] = quota.spec?.scopeSelector?.matchExpressions ?? [];
  return [...scopes.map((scopeName) => ({ scopeName, operator: 'Exists' })), ...selected];
}

export function isInAllScopes(evaluator: Evaluator, quota: KubeObject, object: KubeObject): boolean {
  return scopesOf(quota).every((scope) => evaluator.inScope(object, scope));
}

/** Whether one of the names an object goes by fits a scope that lists names. */
export function namesMatch({ operator, values = [] }: ScopeRequirement, names: string[]): boolean {
  switch (operator) {
    case 'Exists':
      return names.length > 0;
    case 'DoesNotExist':
      return names.length === 0;
    case 'In':
      return names.some((name) => values.includes(name));
    case 'NotIn':
      return names.length === 0 || names.some((name) => !values.includes(name));
    default:
      return false;
  }
}

/** `count/deployments.apps`, `count/pods`. */
export function countName({ group, resource }: GroupResource): string {
  return group === '' ? `count/${resource}` : `count/${resource}.${group}`;
}

/** Counts objects of any resource, CRs included, under `count/<resource>.<group>` and maybe an older name. */
export function countEvaluator(resource: GroupResource, alias?: string): Evaluator {
  const names = alias === undefined ? [countName(resource)] : [countName(resource), alias];
  const one: ResourceList = new Map(names.map((name) => [name, ONE]));
  return {
    resource,
    handles: (request) => request.operation === 'CREATE' && request.subresource === '',
    tracks: (name) => names.includes(name),
    inScope: noScope,
    usage: () => one,
  };
}
