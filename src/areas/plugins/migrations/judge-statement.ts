import type { Json } from '../../../kube/object.ts';
import { judgeColumn, judgeConstraint } from './judge-constraints.ts';
import { addRelation, callsCode, lastName, signatureOf, statementsIn, touchesCode, type NewObjects } from './new-objects.ts';
import type { MigrationRule } from './rules.ts';

/** Which rules a statement of PostgreSQL's own parse tree breaks. What is not known to keep the version before working is refused. */
export function judgeStatement(statement: Json, made: NewObjects): MigrationRule[] {
  const [[type, node]] = Object.entries(statement as Record<string, Json>);
  const outside = namesOtherSchema(node) ? (['outside-schema'] as const) : [];
  // What is inside a function is looked at by nobody; so it is not run.
  const inner = type === 'CreateFunctionStmt' ? [] : statementsIn(node).flatMap((each) => judgeOne(each, made));
  return [...outside, ...inner, ...judgeCode(type, node, made), ...judgeOne(statement, made)];
}

function judgeOne(statement: Json, made: NewObjects): MigrationRule[] {
  const [[type, node]] = Object.entries(statement as Record<string, Json>);
  const judge = JUDGES[type];
  return judge ? judge(node, made) : ['unknown-statement'];
}

/** Statements that only say what is run when rows are read or written. */
const RUN_LATER: Record<string, (node: Json) => Json> = {
  CreateStmt: ({ relation }) => relation,
  ViewStmt: ({ view }) => view,
  CreateTrigStmt: ({ relation }) => relation,
  RuleStmt: ({ relation }) => relation,
};

/** Statements that read or write rows. */
const ON_ROWS = new Set([
  'SelectStmt',
  'InsertStmt',
  'UpdateStmt',
  'DeleteStmt',
  'TruncateStmt',
  'CreateTableAsStmt',
  'ViewStmt',
  'RuleStmt',
]);

function judgeCode(type: string, node: Json, made: NewObjects): MigrationRule[] {
  if (type === 'CreateFunctionStmt') return [];
  const isTrigger = type === 'CreateTrigStmt' && made.code.has(lastName(node.funcname));
  if (!isTrigger && !callsCode(node, made) && !(ON_ROWS.has(type) && touchesCode(node, made))) return [];
  const relation = RUN_LATER[type]?.(node);
  if (!relation) return ['unjudged-code'];
  made.runningCode.add(relation.relname);
  return [];
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
  DeleteStmt: ({ relation }, made) => (made.relations.has(relation.relname) ? [] : ['delete-rows']),
  TruncateStmt: ({ relations }, made) =>
    relations.every(({ RangeVar }: Json) => made.relations.has(RangeVar.relname)) ? [] : ['delete-rows'],
  CreateStmt: createTable,
  CreateTableAsStmt: ({ into, if_not_exists }, made) => (addRelation(into.rel, if_not_exists, made), []),
  IndexStmt: createIndex,
  AlterTableStmt: ({ relation, cmds }, made) =>
    made.relations.has(relation.relname) ? [] : cmds.flatMap(({ AlterTableCmd }: Json) => judgeChange(AlterTableCmd, made)),
  RenameStmt: renameObject,
  AlterObjectSchemaStmt: always('set-schema'),
  DropStmt: dropObjects,
  ViewStmt: createView,
  CreateFunctionStmt: createFunction,
  AlterEnumStmt: ({ oldVal }) => (oldVal === undefined ? [] : ['rename']),
  CreateTrigStmt: ({ relation }, made) => (made.relations.has(relation.relname) ? [] : ['add-trigger']),
  RuleStmt: ({ relation }, made) => (made.relations.has(relation.relname) ? [] : ['add-trigger']),
  CreatePolicyStmt: ({ table }, made) => (made.relations.has(table.relname) ? [] : ['row-security']),
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

function createTable({ relation, tableElts = [], if_not_exists }: Json, made: NewObjects): MigrationRule[] {
  addRelation(relation, if_not_exists, made);
  const constraints = (tableElts as Json[]).flatMap(({ ColumnDef, Constraint }) =>
    ColumnDef ? (ColumnDef.constraints ?? []) : [{ Constraint }],
  );
  const isOwnOrNew = (name: string): boolean => name === relation.relname || made.relations.has(name);
  const refersToOld = constraints.some(
    ({ Constraint }: Json) => Constraint?.contype === 'CONSTR_FOREIGN' && !isOwnOrNew(Constraint.pktable.relname),
  );
  return refersToOld ? ['add-foreign-key'] : [];
}

function createIndex({ relation, unique, concurrent }: Json, made: NewObjects): MigrationRule[] {
  const rules: MigrationRule[] = [];
  if (concurrent) rules.push('concurrently');
  if (unique && !made.relations.has(relation.relname)) rules.push('add-unique');
  return rules;
}

function createView({ view, replace }: Json, made: NewObjects): MigrationRule[] {
  if (replace && !made.relations.has(view.relname)) return ['replace-object'];
  addRelation(view, false, made);
  return [];
}

function createFunction({ funcname, parameters, replace }: Json, made: NewObjects): MigrationRule[] {
  const signature = signatureOf(funcname, parameters)!;
  made.code.add(lastName(funcname));
  if (replace && !made.functions.has(signature)) return ['replace-object'];
  made.functions.add(signature);
  return [];
}

function renameObject({ relation, renameType, newname }: Json, made: NewObjects): MigrationRule[] {
  if (!relation || !made.relations.has(relation.relname)) return ['rename'];
  if (renameType !== 'OBJECT_TABLE' && renameType !== 'OBJECT_VIEW') return [];
  made.relations.delete(relation.relname);
  made.relations.add(newname);
  if (made.runningCode.delete(relation.relname)) made.runningCode.add(newname);
  return [];
}

function dropObjects({ objects, removeType, concurrent }: Json, made: NewObjects): MigrationRule[] {
  const isNew = (objects as Json[]).map((each) => dropNew(each, removeType, made));
  const rules: MigrationRule[] = isNew.every(Boolean) ? [] : ['drop-object'];
  return concurrent ? [...rules, 'concurrently'] : rules;
}

/** @returns whether it was made by the same migrations; its name may be that of something else from now on */
function dropNew({ List, ObjectWithArgs }: Json, removeType: string, made: NewObjects): boolean {
  const names = (List?.items ?? []) as Json[];
  switch (removeType) {
    case 'OBJECT_TABLE':
    case 'OBJECT_VIEW':
    case 'OBJECT_MATVIEW':
      return made.relations.delete(lastName(names));
    case 'OBJECT_TRIGGER':
    case 'OBJECT_RULE':
    case 'OBJECT_POLICY':
      // The table, and then what it has.
      return made.relations.has(names.at(-2)!.String.sval);
    case 'OBJECT_FUNCTION':
      return made.functions.delete(signatureOf(ObjectWithArgs.objname, ObjectWithArgs.objfuncargs, ObjectWithArgs.args_unspecified) ?? '');
    default:
      return false;
  }
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
  if (subtype === 'AT_AddColumn') return judgeColumn(def.ColumnDef, made.relations);
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
