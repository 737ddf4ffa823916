import type { DefaultRuleCheck } from '../schema/default-check.ts';
import { SchemaNode } from '../schema/schema-node.ts';
import { OBJECT_BUDGET } from './cel.ts';
import { checkRules, hasRules, RuleNode } from './rule-validation.ts';

/** Evaluates the rules of defaults: as the new value of an unchanged field, and of one that was not there. All share a budget. */
export function checkDefaultRules(): DefaultRuleCheck {
  let budget = OBJECT_BUDGET;
  return function* (schema, value, path, isResource, pace) {
    if (budget < 0 || !hasRules(schema)) return [];
    const root = new RuleNode(new SchemaNode(schema), isResource);
    const same = yield* checkRules(root, value, { path, old: value, ratchets: false, pace, budget });
    const fresh = same.found.length > 0 ? same : yield* checkRules(root, value, { path, pace, budget });
    budget = Math.min(same.budget, fresh.budget);
    return same.found.length > 0 ? same.found : fresh.found;
  };
}
