import { DYN, type CelType } from '../../cel/types.ts';
import type { CelCheck, CelUse } from '../../validation/index.ts';
import { compileCelExpression } from './cel-expression.ts';
import type { ExpressionNames } from './expression.ts';

const RESULTS: Record<CelUse['returns'], ExpressionNames['result']> = {
  bool: 'bool',
  string: 'string',
  stringOrNull: 'string or null',
  any: undefined,
};

/** What is wrong with an expression in a policy or webhook configuration, for the validation of these kinds. */
export const checkCel: CelCheck = (expression, use) => {
  const names: ExpressionNames = { params: use.hasParams, authorizer: use.hasAuthorizer, variables: variableTypes(use) };
  try {
    compileCelExpression(expression, { ...names, result: RESULTS[use.returns] });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};

/** Each variable sees those before it. One that does not compile has its own finding; here it may be anything. */
function variableTypes(use: CelUse): ReadonlyMap<string, CelType> {
  const types = new Map<string, CelType>();
  for (const { name, expression } of use.variables) {
    try {
      const { type } = compileCelExpression(expression, { params: use.hasParams, authorizer: use.hasAuthorizer, variables: types });
      types.set(name, type ?? DYN);
    } catch {
      types.set(name, DYN);
    }
  }
  return types;
}
