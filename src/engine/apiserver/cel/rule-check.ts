import type { FieldError } from '../../../kube/field-error.ts';
import { child, forbiddenValue, index, internalFinding, invalidValue } from '../schema/findings.ts';
import { internalRule } from '../schema/internal-form.ts';
import { multiplyCapped, type RuleCheck, type RuleScope } from '../schema/rule-scope.ts';
import type { Sliced } from '../schema/slices.ts';
import { compileRule, estimateRule, type CompiledRule } from './rules.ts';
import { declare, type Declared } from './schema-types.ts';

/** The most that one rule, and all rules of a schema, may cost by estimation. */
const RULE_LIMIT = 10_000_000n;
export const SCHEMA_LIMIT = 100_000_000n;

/** Checks the rules that stand at one place of a CRD's schema. */
export function checkRulesAt(suppressesCost: boolean): RuleCheck {
  return (scope, path, uncorrelatable, pace) => {
    const { schema } = scope;
    const isResource = scope.parent === undefined || schema['x-kubernetes-embedded-resource'] === true;
    const declared = declare(schema, 'selfType', isResource);
    const rulesPath = child(path, 'x-kubernetes-validations');
    if (declared === undefined) {
      const detail =
        'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations';
      return [
        // oxlint-disable-next-line require-yield -- done at once
        function* () {
          return [internalFinding(rulesPath, detail)];
        },
      ];
    }
    return (schema['x-kubernetes-validations'] ?? []).map(
      (rule, at) =>
        function* (): Sliced<FieldError[]> {
          const compiled = yield* compileRule(schema, rule, declared, pace);
          yield;
          return checkRule(scope, compiled, declared, index(rulesPath, at), uncorrelatable, suppressesCost);
        },
    );
  };
}

function checkRule(
  scope: RuleScope,
  compiled: CompiledRule,
  declared: Declared,
  path: string,
  uncorrelatable: string | undefined,
  suppressesCost: boolean,
): FieldError[] {
  const found: FieldError[] = [];
  const { rule } = compiled;
  const noticeable = SCHEMA_LIMIT / 100n;
  const estimate = estimateRule(compiled, declared);
  const cost = multiplyCapped(estimate.rule, scope.maxCardinality ?? estimate.cardinality);
  if (!suppressesCost && cost > RULE_LIMIT) {
    found.push(forbiddenValue(child(path, 'rule'), costComplaint('estimated rule cost', cost, RULE_LIMIT)));
  }
  scope.total.observe(child(path, 'rule'), cost, noticeable);
  if (compiled.error !== undefined) found.push(invalidValue(child(path, 'rule'), internalRule(rule), compiled.error));
  if (compiled.messageError !== undefined) {
    found.push(invalidValue(child(path, 'messageExpression'), internalRule(rule), compiled.messageError));
  } else if (compiled.message !== undefined) {
    if (!suppressesCost && estimate.message > RULE_LIMIT) {
      const detail = costComplaint('estimated messageExpression cost', estimate.message, RULE_LIMIT);
      found.push(forbiddenValue(child(path, 'messageExpression'), detail));
    }
    scope.total.observe(child(path, 'messageExpression'), estimate.message, noticeable);
  }
  if (compiled.usesOldSelf) {
    if (uncorrelatable !== undefined) {
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`;
      found.push(invalidValue(child(path, 'rule'), rule.rule, detail));
    }
  } else if (rule.optionalOldSelf !== undefined && rule.optionalOldSelf !== null) {
    found.push(invalidValue(child(path, 'optionalOldSelf'), rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule'));
  }
  return found;
}

export function costComplaint(name: string, cost: bigint, limit: bigint): string {
  const factor = Number(cost) / Number(limit);
  const shown = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${name} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

/** Findings about the cost of all rules together. */
export function checkTotalCost(scope: RuleScope, path: string): FieldError[] {
  const { total, mostExpensive } = scope.total;
  if (total <= SCHEMA_LIMIT) return [];
  const detail = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
  const whole = costComplaint('x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema', total, SCHEMA_LIMIT);
  return [...mostExpensive.map((rule) => forbiddenValue(rule.path, detail)), forbiddenValue(path, whole)];
}
