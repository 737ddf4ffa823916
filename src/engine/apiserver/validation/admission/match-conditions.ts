import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkQualifiedName } from '../formats.ts';
import type { Path } from '../path.ts';
import { checkExpression, type CelCheck } from './cel-use.ts';

const MAX_CONDITIONS = 64;

export function checkMatchConditions(out: Findings, conditions: Json[], hasParams: boolean, check: CelCheck | undefined, at: Path): void {
  if (conditions.length > MAX_CONDITIONS) out.tooMany(at, conditions.length, MAX_CONDITIONS);
  const names = new Set<string>();
  conditions.forEach(({ name = '', expression = '' }, i) => {
    const expressionAt = at.index(i).child('expression');
    const trimmed = expression.trim();
    if (trimmed === '') out.required(expressionAt);
    else checkExpression(out, trimmed, { returns: 'bool', hasParams, hasAuthorizer: true, variables: [] }, check, expressionAt);
    if (name === '') return out.required(at.index(i).child('name'));
    checkQualifiedName(out, name, at.index(i).child('name'));
    if (names.has(name)) out.duplicate(at.index(i).child('name'), name);
    names.add(name);
  });
}
