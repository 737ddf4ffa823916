import type { Json } from '../../../kube/object.ts';
import { judgeColumn, judgeConstraint } from './judge-constraints.ts';
import type { MigrationRule } from './rules.ts';

/** Tables and other objects that the same migrations made: no version before them knows them, so anything may be done to them. */
export type NewObjects = Set<string>;

/** Which rules a statement of PostgreSQL's own parse tree breaks. What is not known to keep the version before working is refused. */
export function judgeStatement(statement: Json, made: NewObjects): MigrationRule[] {
  const [[type, node]] = Object.entries(statement as Record<string, Json>);
  const outside = namesOtherSchema(node) ? (['outside-schema'] as const) : [];
  const judge = JUDGES[type];
  return [...outside, ...(judge ? judge(node, made) : (['unknown-statement'] as const))];
}

type Judge = (node: Json, made: NewObjects) => MigrationRule[];

const allowed: Judge = () => [];
const always =
  (rule: MigrationRule): Judge =>
  () => [rule];

const JUDGES: Record<string, Judge> = {
  SelectStmt: allowed,
  InsertStmt: allowed,
  UpdateStmt: allowed,
  CommentStmt: allowed,
  CreateSeqStmt: allowed,
  CreateEnumStmt: allowed,
  CompositeTypeStmt: allowed,
  CreateDomainStmt: allowed,
  DeleteStmt: ({ relation }, made) => (made.has(relation.relname) ? [] : ['delete-rows']),
  TruncateStmt: ({ relations }, made) => (relations.every(({ RangeVar }: Json) => made.has(RangeVar.relname)) ? [] : ['delete-rows']),
  CreateStmt: createTable,
  CreateTableAsStmt: ({ into }, made) => (made.add(into.rel.relname), []),
  IndexStmt: createIndex,
  AlterTableStmt: ({ relation, cmds }, made) =>
    made.has(relation.relname) ? [] : cmds.flatMap(({ AlterTableCmd }: Json) => judgeChange(AlterTableCmd, made)),
  RenameStmt: ({ relation }, made) => (relation && made.has(relation.relname) ? [] : ['rename']),
  AlterObjectSchemaStmt: always('set-schema'),
  DropStmt: dropObjects,
  ViewStmt: ({ view, replace }, made) => createOrReplace(view.relname, replace, made),
  CreateFunctionStmt: ({ funcname, replace }, made) => createOrReplace(`${funcname.at(-1).String.sval}()`, replace, made),
  AlterEnumStmt: ({ oldVal }) => (oldVal === undefined ? [] : ['rename']),
  CreateTrigStmt: ({ relation }, made) => (made.has(relation.relname) ? [] : ['add-trigger']),
  RuleStmt: ({ relation }, made) => (made.has(relation.relname) ? [] : ['add-trigger']),
  CreatePolicyStmt: ({ table }, made) => (made.has(table.relname) ? [] : ['row-security']),
  AlterPolicyStmt: always('row-security'),
  TransactionStmt: always('transaction-control'),
  VariableSetStmt: always('session-setting'),
  GrantStmt: always('change-rights'),
  GrantRoleStmt: always('change-rights'),
  AlterOwnerStmt: always('change-rights'),
  AlterDefaultPrivilegesStmt: always('change-rights'),
  CreateRoleStmt: always('change-rights'),
  AlterRoleStmt: always('change-rights'),
  CreateSchemaStmt: always('outside-schema'),
  CreateExtensionStmt: always('extension'),
  DoStmt: always('unjudged-code'),
  CallStmt: always('unjudged-code'),
};

function createTable({ relation, tableElts = [] }: Json, made: NewObjects): MigrationRule[] {
  made.add(relation.relname);
  const constraints = (tableElts as Json[]).flatMap(({ ColumnDef, Constraint }) =>
    ColumnDef ? (ColumnDef.constraints ?? []) : [{ Constraint }],
  );
  const refersToOld = constraints.some(
    ({ Constraint }: Json) => Constraint?.contype === 'CONSTR_FOREIGN' && !made.has(Constraint.pktable.relname),
  );
  return refersToOld ? ['add-foreign-key'] : [];
}

function createIndex({ relation, unique, concurrent }: Json, made: NewObjects): MigrationRule[] {
  const rules: MigrationRule[] = [];
  if (concurrent) rules.push('concurrently');
  if (unique && !made.has(relation.relname)) rules.push('add-unique');
  return rules;
}

function createOrReplace(name: string, replace: boolean | undefined, made: NewObjects): MigrationRule[] {
  if (replace && !made.has(name)) return ['replace-object'];
  made.add(name);
  return [];
}

function dropObjects({ objects, concurrent }: Json, made: NewObjects): MigrationRule[] {
  const names = (objects as Json[]).map(nameOfDropped);
  const rules: MigrationRule[] = names.every((name) => name !== undefined && made.has(name)) ? [] : ['drop-object'];
  return concurrent ? [...rules, 'concurrently'] : rules;
}

function nameOfDropped({ List, ObjectWithArgs }: Json): string | undefined {
  const last = List?.items.at(-1)?.String?.sval as string | undefined;
  const call = ObjectWithArgs?.objname.at(-1)?.String?.sval as string | undefined;
  return last ?? (call === undefined ? undefined : `${call}()`);
}

const HARMLESS_CHANGES = new Set([
  'AT_ValidateConstraint',
  'AT_SetStatistics',
  'AT_SetStorage',
  'AT_SetRelOptions',
  'AT_ResetRelOptions',
  'AT_SetOptions',
  'AT_ClusterOn',
  'AT_SetCompression',
]);

const CHANGES: Record<string, MigrationRule> = {
  AT_DropColumn: 'drop-column',
  AT_DropConstraint: 'drop-constraint',
  AT_AlterColumnType: 'change-type',
  AT_SetNotNull: 'set-not-null',
  AT_DropNotNull: 'drop-not-null',
  AT_DropIdentity: 'drop-default',
  AT_DropExpression: 'drop-default',
  AT_EnableRowSecurity: 'row-security',
  AT_ForceRowSecurity: 'row-security',
  AT_DisableRowSecurity: 'row-security',
  AT_NoForceRowSecurity: 'row-security',
  AT_EnableTrig: 'add-trigger',
  AT_ChangeOwner: 'change-rights',
};

function judgeChange({ subtype, def }: Json, made: NewObjects): MigrationRule[] {
  if (HARMLESS_CHANGES.has(subtype)) return [];
  if (subtype === 'AT_AddColumn') return judgeColumn(def.ColumnDef, made);
  if (subtype === 'AT_AddConstraint') return judgeConstraint(def.Constraint);
  if (subtype === 'AT_ColumnDefault') return def === undefined ? ['drop-default'] : [];
  return [CHANGES[subtype] ?? 'unknown-statement'];
}

/** Whether a name anywhere in the statement has a schema in front that is not PostgreSQL's own. */
function namesOtherSchema(node: Json): boolean {
  if (Array.isArray(node)) return node.some(namesOtherSchema);
  if (typeof node !== 'object' || node === null) return false;
  const { schemaname } = node as { schemaname?: unknown };
  if (typeof schemaname === 'string' && schemaname !== 'pg_catalog') return true;
  return Object.values(node).some(namesOtherSchema);
}
