import { isReservedName } from './field-names.ts';
import { qualifiedName, type CallExpr, type ComprehensionExpr, type Expr, type ListExpr, type MapExpr, type StructExpr } from './ast.ts';
import { findFunction, type Overload } from './declarations.ts';
import type { CelIssue } from './issues.ts';
import { isLargerThan, mostGeneral, substitute, Substitutions } from './type-relations.ts';
import * as types from './types.ts';
import type { CelType } from './types.ts';
import { CelTypeValue, CelUint } from './values.ts';

/** A scope of names; inner scopes hide outer ones. */
interface Scope {
  readonly names: Map<string, CelType>;
  readonly outer?: Scope;
}

const LARGEST_TYPE = 1000;

/** Finds the type of every part of an expression, writes it into the nodes and reports what does not fit, in cel-go's words. */
export function checkTypes(expr: Expr, variables: Readonly<Record<string, CelType>>, issues: CelIssue[]): void {
  const checker = new Checker(variables, issues);
  checker.check(expr);
  checker.finish(expr);
}

class Checker {
  private readonly issues: CelIssue[];
  private scope: Scope;
  private readonly known = new Substitutions();
  private fresh = 0;
  private readonly visited: Expr[] = [];

  constructor(variables: Readonly<Record<string, CelType>>, issues: CelIssue[]) {
    this.issues = issues;
    this.scope = { names: new Map(Object.entries(variables)) };
  }

  /** Replaces the type parameters left in the nodes. */
  finish(expr: Expr): void {
    for (const node of [...this.visited, expr]) if (node.type !== undefined) node.type = substitute(this.known, node.type, true);
  }

  check(expr: Expr): CelType {
    this.visited.push(expr);
    const type = this.typeOfExpr(expr);
    expr.type = type;
    return type;
  }

  private report(offset: number, message: string): CelType {
    this.issues.push({ offset, message });
    return types.ERROR;
  }

  private typeOfExpr(expr: Expr): CelType {
    switch (expr.kind) {
      case 'literal':
        return literalType(expr.value);
      case 'ident':
        return this.ident(expr);
      case 'select':
        return this.select(expr);
      case 'call':
        return this.call(expr);
      case 'list':
        return this.list(expr);
      case 'map':
        return this.map(expr);
      case 'struct':
        return this.structLiteral(expr);
      case 'comprehension':
        return this.comprehension(expr);
    }
  }

  private lookup(name: string): CelType | undefined {
    for (let scope: Scope | undefined = this.scope; scope !== undefined; scope = scope.outer) {
      const type = scope.names.get(name);
      if (type !== undefined) return type;
    }
    return undefined;
  }

  private fits(left: CelType, right: CelType): boolean {
    return this.known.assign([left], [right]);
  }

  private ident(expr: Expr & { kind: 'ident' }): CelType {
    const type = this.lookup(expr.name);
    if (type !== undefined) return type;
    if (Object.hasOwn(types.TYPE_NAMES, expr.name)) {
      expr.typeValue = new CelTypeValue(expr.name);
      return types.typeOf(types.TYPE_NAMES[expr.name]);
    }
    return this.undeclared(expr.offset, expr.name);
  }

  private undeclared(offset: number, name: string): CelType {
    return this.report(offset, `undeclared reference to '${name}' (in container '')`);
  }

  private select(expr: Expr & { kind: 'select' }): CelType {
    const name = qualifiedName(expr);
    if (name !== undefined) {
      // A dotted name that is declared as a whole, such as google.protobuf.Timestamp, is no selection.
      const declared = this.lookup(name);
      const isType = declared === undefined && Object.hasOwn(types.TYPE_NAMES, name);
      if (declared !== undefined || isType) {
        const ident: Record<string, unknown> = expr as never;
        Object.assign(ident, { kind: 'ident', name });
        if (isType) ident.typeValue = new CelTypeValue(name);
        return declared ?? types.typeOf(types.TYPE_NAMES[name]);
      }
    }
    const type = this.field(expr.offset, expr.operand, expr.field, false);
    return expr.testOnly ? types.BOOL : substitute(this.known, type, false);
  }

  private field(offset: number, operand: Expr, name: string, optional: boolean): CelType {
    const operandType = substitute(this.known, this.check(operand), false);
    const isOptional = types.isOptional(operandType);
    const target = isOptional ? operandType.params[0] : operandType;
    const result = this.fieldType(offset, target, name);
    return isOptional || optional ? types.optionalOf(result) : result;
  }

  private fieldType(offset: number, target: CelType, name: string): CelType {
    if (target.kind === 'map') return target.params[1];
    if (target.kind === 'struct') {
      const found = target.fields?.find(name) ?? (isReservedName(name) ? target.fields?.find(`__${name}__`) : undefined);
      return found ?? this.report(offset, `undefined field '${name}'`);
    }
    if (target.kind === 'param') this.fits(types.DYN, target);
    else if (target.kind !== 'dyn' && target.kind !== 'error') {
      this.report(offset, `type '${types.typeText(target)}' does not support field selection`);
    }
    return types.DYN;
  }

  private call(expr: CallExpr): CelType {
    if (expr.name === '_?._') return this.optionalSelect(expr);
    for (const arg of expr.args) this.check(arg);
    if (expr.target === undefined) {
      const overloads = findFunction(expr.name);
      return overloads === undefined ? this.undeclared(expr.offset, expr.name) : this.resolve(expr, overloads, expr.args);
    }
    const prefix = qualifiedName(expr.target);
    const namespaced = prefix === undefined ? undefined : findFunction(`${prefix}.${expr.name}`);
    if (namespaced !== undefined) {
      expr.name = `${prefix}.${expr.name}`;
      expr.target = undefined;
      return this.resolve(expr, namespaced, expr.args);
    }
    this.check(expr.target);
    const overloads = findFunction(expr.name);
    return overloads === undefined ? this.undeclared(expr.offset, expr.name) : this.resolve(expr, overloads, [expr.target, ...expr.args]);
  }

  private optionalSelect(expr: CallExpr): CelType {
    const [operand, field] = expr.args;
    const name = field.kind === 'literal' && typeof field.value === 'string' ? field.value : '';
    this.check(field);
    expr.overloads = ['select_optional_field'];
    return substitute(this.known, this.field(expr.offset, operand, name, true), false);
  }

  private resolve(expr: CallExpr, overloads: readonly Overload[], args: readonly Expr[]): CelType {
    if (expr.name === '_&&_' || expr.name === '_||_') return this.logic(expr, overloads[0].id);
    const argTypes = args.map((arg) => arg.type ?? types.DYN);
    let result: CelType | undefined;
    const found: string[] = [];
    for (const overload of overloads) {
      if (overload.member !== (expr.target !== undefined)) continue;
      const { params, result: declared } = this.instantiate(overload);
      if (!this.known.assign(argTypes, params)) continue;
      found.push(overload.id);
      const type = substitute(this.known, declared, false);
      if (result === undefined) result = type;
      else if (!types.isDyn(result) && !types.sameType(type, result)) result = types.DYN;
    }
    expr.overloads = found;
    if (result !== undefined) return result;
    const shown = argTypes.map((type) => types.typeText(substitute(this.known, type, true)));
    const signature = expr.target === undefined ? `(${shown.join(', ')})` : `${shown[0]}.(${shown.slice(1).join(', ')})`;
    return this.report(expr.offset, `found no matching overload for '${expr.name}' applied to '${signature}'`);
  }

  private instantiate(overload: Overload): { params: CelType[]; result: CelType } {
    if (overload.typeParams.length === 0) return overload;
    const fresh = new Map(overload.typeParams.map((name) => [name, types.typeParam(`_var${this.fresh++}`)]));
    return { params: overload.params.map((type) => substitute(fresh, type, false)), result: substitute(fresh, overload.result, false) };
  }

  private logic(expr: CallExpr, overload: string): CelType {
    expr.overloads = [overload];
    let sound = true;
    for (const arg of expr.args) sound = this.expect(arg, types.BOOL) && sound;
    return sound ? types.BOOL : types.ERROR;
  }

  private expect(expr: Expr, wanted: CelType): boolean {
    const actual = expr.type ?? types.DYN;
    if (this.fits(wanted, actual)) return true;
    this.mismatch(expr.offset, wanted, actual);
    return false;
  }

  private mismatch(offset: number, wanted: CelType, actual: CelType): CelType {
    const shown = (type: CelType): string => types.typeText(substitute(this.known, type, false));
    return this.report(offset, `expected type '${shown(wanted)}' but found '${shown(actual)}'`);
  }

  /** The type of a `?element`, which must be optional. */
  private unwrap(expr: Expr, type: CelType): CelType {
    if (types.isOptional(type)) return type.params[0];
    if (!types.isDyn(type)) this.mismatch(expr.offset, types.optionalOf(type), type);
    return type;
  }

  /** Literals of mixed types are dynamic here; whether they are allowed is decided after. */
  private join(previous: CelType | undefined, current: CelType): CelType {
    if (previous === undefined) return current;
    if (this.fits(previous, current)) return mostGeneral(previous, current);
    return types.DYN;
  }

  private list(expr: ListExpr): CelType {
    let element: CelType | undefined;
    for (const [at, item] of expr.elements.entries()) {
      const type = this.check(item);
      element = this.join(element, expr.optionals.has(at) ? this.unwrap(item, type) : type);
    }
    return types.listOf(element ?? types.typeParam(`_var${this.fresh++}`));
  }

  private map(expr: MapExpr): CelType {
    let key: CelType | undefined;
    let value: CelType | undefined;
    for (const entry of expr.entries) {
      key = this.join(key, this.check(entry.key));
      const type = this.check(entry.value);
      value = this.join(value, entry.optional ? this.unwrap(entry.value, type) : type);
    }
    const free = (): CelType => types.typeParam(`_var${this.fresh++}`);
    const type = types.mapOf(key ?? free(), value ?? free());
    // Maps of a value to itself double their type with each nesting.
    return isLargerThan(this.known, type, LARGEST_TYPE) ? this.report(expr.offset, 'type of the map is too large') : type;
  }

  private structLiteral(expr: StructExpr): CelType {
    // No type that can be built by name is declared in Kubernetes' environments.
    if (Object.hasOwn(types.TYPE_NAMES, expr.name)) return this.report(expr.offset, `'${expr.name}' is not a message type`);
    return this.undeclared(expr.offset, expr.name);
  }

  private comprehension(expr: ComprehensionExpr): CelType {
    this.check(expr.range);
    const accuType = this.check(expr.accuInit);
    const rangeType = substitute(this.known, expr.range.type ?? types.DYN, false);
    const outer = this.scope;
    this.scope = { names: new Map([[expr.accuVar, accuType]]), outer };
    const withAccu = this.scope;
    this.scope = { names: this.iterationTypes(expr, rangeType), outer: withAccu };
    this.check(expr.condition);
    this.expect(expr.condition, types.BOOL);
    this.check(expr.step);
    this.expect(expr.step, accuType);
    this.scope = withAccu;
    const result = this.check(expr.result);
    this.scope = outer;
    return substitute(this.known, result, false);
  }

  private iterationTypes(expr: ComprehensionExpr, range: CelType): Map<string, CelType> {
    const named = (first: CelType, second: CelType): Map<string, CelType> => {
      const names = new Map([[expr.iterVar, first]]);
      if (expr.iterVar2 !== undefined) names.set(expr.iterVar2, second);
      return names;
    };
    const [first, second] = range.params;
    if (range.kind === 'list') return expr.iterVar2 === undefined ? named(first, first) : named(types.INT, first);
    if (range.kind === 'map') return named(first, second);
    if (range.kind === 'dyn' || range.kind === 'error' || range.kind === 'param') {
      this.fits(types.DYN, range);
      return named(types.DYN, types.DYN);
    }
    const shown = types.typeText(range);
    const message = `expression of type '${shown}' cannot be range of a comprehension (must be list, map, or dynamic)`;
    this.report(expr.range.offset, message);
    return named(types.ERROR, types.ERROR);
  }
}

function literalType(value: unknown): CelType {
  if (typeof value === 'boolean') return types.BOOL;
  if (typeof value === 'bigint') return types.INT;
  if (typeof value === 'number') return types.DOUBLE;
  if (typeof value === 'string') return types.STRING;
  if (value === null) return types.NULL;
  return value instanceof CelUint ? types.UINT : types.BYTES;
}
