import type { FieldError } from '../../../kube/field-error.ts';
import type { Pace, Sliced } from './slices.ts';
import type { CrdSchema } from './structural.ts';

/**
 * A place in a schema where rules may stand, with what is known of how often values occur there: the product of the limits of all
 * lists and maps above it, undefined when one of them has no limit.
 */
export interface RuleScope {
  readonly schema: CrdSchema;
  readonly parent?: RuleScope;
  readonly maxCardinality?: bigint;
  readonly total: RuleCostTotal;
}

/** The checks of the rules of one schema node, one by one. `uncorrelatable` is the path of the ancestor that forbids `oldSelf`. */
export type RuleCheck = (scope: RuleScope, path: string, uncorrelatable: string | undefined, pace: Pace) => (() => Sliced<FieldError[]>)[];

export const MOST_COST = (1n << 64n) - 1n;

/** The estimated cost of all rules of one schema, and the few that make most of it. */
export class RuleCostTotal {
  total = 0n;
  mostExpensive: { path: string; cost: bigint }[] = [];

  /** @param noticeable rules below this cost are never named as expensive */
  observe(path: string, cost: bigint, noticeable: bigint): void {
    this.total = this.total + cost > MOST_COST ? MOST_COST : this.total + cost;
    if (cost < noticeable) return;
    this.mostExpensive.push({ path, cost });
    this.mostExpensive.sort((left, right) => (left.cost > right.cost ? -1 : left.cost < right.cost ? 1 : 0));
    this.mostExpensive.length = Math.min(this.mostExpensive.length, 4);
  }
}

export function rootScope(schema: CrdSchema): RuleScope {
  return { schema, maxCardinality: 1n, total: new RuleCostTotal() };
}

export function childScope(scope: RuleScope | undefined, schema: CrdSchema): RuleScope | undefined {
  if (scope === undefined) return undefined;
  const factor = mostElements(scope.schema);
  const { maxCardinality, total } = scope;
  const known = maxCardinality !== undefined && factor !== undefined;
  return { schema, parent: scope, total, maxCardinality: known ? multiplyCapped(maxCardinality, factor) : undefined };
}

export function multiplyCapped(left: bigint, right: bigint): bigint {
  const product = left * right;
  return product > MOST_COST ? MOST_COST : product;
}

/** By how much a schema multiplies the number of values below it; undefined when it sets no limit. */
function mostElements(schema: CrdSchema): bigint | undefined {
  const limit = (value: number | undefined): bigint | undefined =>
    typeof value === 'number' ? BigInt(Math.max(0, Math.trunc(value))) : undefined;
  if (schema.type === 'array') return limit(schema.maxItems);
  const isMap = schema.type === 'object' && (schema.additionalProperties ?? undefined) !== undefined;
  return isMap ? limit(schema.maxProperties) : 1n;
}
