import type { Json } from '../../../kube/object.ts';

/** What the same migrations made: no version before them knows it, so anything may be done to it. */
export interface NewObjects {
  /** Tables and views. */
  relations: Set<string>;
  /** With the types of their arguments: others of the same name are other functions. */
  functions: Set<string>;
  /** Their plain names: nobody looked at what is inside. */
  code: Set<string>;
  /** Tables and views that run such functions when rows are read or written. */
  runningCode: Set<string>;
}

export function noObjects(): NewObjects {
  return { relations: new Set(), functions: new Set(), code: new Set(), runningCode: new Set() };
}

/** A name that was free for certain. Temporary ones hide what has the name otherwise, and IF NOT EXISTS may make nothing. */
export function addRelation({ relname, relpersistence }: Json, isPerhapsOld: boolean | undefined, { relations }: NewObjects): void {
  if (isPerhapsOld || relpersistence === 't') relations.delete(relname);
  else relations.add(relname);
}

/** As a function that is made, or one that is dropped, names itself. Undefined: it does not say which one of its name. */
export function signatureOf(name: Json[], parameters: Json[] | undefined, isUnspecified = false): string | undefined {
  if (isUnspecified) return undefined;
  const types = (parameters ?? [])
    .map(({ FunctionParameter }) => FunctionParameter)
    .filter(({ mode }) => mode !== 'FUNC_PARAM_OUT' && mode !== 'FUNC_PARAM_TABLE')
    .map(({ argType }) => `${argType.names.at(-1).String.sval}${argType.arrayBounds === undefined ? '' : '[]'}`);
  return `${lastName(name)}(${types.join(',')})`;
}

export function lastName(names: Json[]): string {
  return names.at(-1).String?.sval as string;
}

/** Whether anything in the statement calls code of the same migrations. */
export function callsCode(node: Json, { code }: NewObjects): boolean {
  return isAnywhere(node, ({ FuncCall }) => FuncCall !== undefined && code.has(lastName(FuncCall.funcname)));
}

/** Whether the rows of a statement are of tables or views that run such code. */
export function touchesCode(node: Json, { runningCode }: NewObjects): boolean {
  return isAnywhere(node, ({ relname }) => typeof relname === 'string' && runningCode.has(relname));
}

function isAnywhere(node: Json, matches: (object: Json) => boolean): boolean {
  if (Array.isArray(node)) return node.some((each) => isAnywhere(each, matches));
  if (typeof node !== 'object' || node === null) return false;
  return matches(node) || Object.values(node).some((each) => isAnywhere(each, matches));
}

/** The statements inside a statement: those of WITH, of a rule, of a view. */
export function statementsIn(node: Json): Json[] {
  if (Array.isArray(node)) return node.flatMap(statementsIn);
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node as Record<string, Json>).flatMap(([key, value]) => {
    const inner = statementsIn(value);
    return /^[A-Z].*Stmt$/.test(key) ? [{ [key]: value }, ...inner] : inner;
  });
}
