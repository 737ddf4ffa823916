import type { Json } from '../../../kube/object.ts';
import type { MigrationRule } from './rules.ts';

/** A constraint that a table gets which is there already. */
export function judgeConstraint({ contype }: Json): MigrationRule[] {
  switch (contype) {
    case 'CONSTR_UNIQUE':
    case 'CONSTR_PRIMARY':
    case 'CONSTR_EXCLUSION':
      return ['add-unique'];
    case 'CONSTR_CHECK':
      return ['add-check'];
    case 'CONSTR_FOREIGN':
      return ['add-foreign-key'];
    case 'CONSTR_NOTNULL':
      return ['set-not-null'];
    default:
      return ['unknown-statement'];
  }
}

/** A column that a table gets which is there already: the version before does not write it. */
export function judgeColumn({ colname, typeName, constraints = [] }: Json, made: ReadonlySet<string>): MigrationRule[] {
  const found = (constraints as Json[]).map(({ Constraint }) => Constraint);
  const has = (type: string) => found.some(({ contype }) => contype === type);
  const type = typeName.names.at(-1).String.sval as string;
  const fills = ['CONSTR_DEFAULT', 'CONSTR_GENERATED', 'CONSTR_IDENTITY'].some(has) || /^(small|big)?serial[248]?$/.test(type);
  const rules: MigrationRule[] = [];
  if (has('CONSTR_NOTNULL') && !fills) rules.push('add-required-column');
  // Many NULLs are unique; many of the same default are not.
  if (has('CONSTR_PRIMARY') || (has('CONSTR_UNIQUE') && fills)) rules.push('add-unique');
  for (const { contype, raw_expr, pktable } of found) {
    if (contype === 'CONSTR_CHECK' && !columnsIn(raw_expr).every((name) => name === colname)) rules.push('add-check');
    if (contype === 'CONSTR_FOREIGN' && !made.has(pktable.relname)) rules.push('add-foreign-key');
  }
  return rules;
}

function columnsIn(node: Json): string[] {
  if (Array.isArray(node)) return node.flatMap(columnsIn);
  if (typeof node !== 'object' || node === null) return [];
  const { ColumnRef } = node as { ColumnRef?: Json };
  if (ColumnRef) return [ColumnRef.fields.at(-1).String?.sval ?? '*'];
  return Object.values(node).flatMap(columnsIn);
}
