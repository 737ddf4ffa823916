import type { CallExpr, ComprehensionExpr, Expr } from './ast.ts';
import { libraryEstimate, standardEstimate, type CallEstimate, type EstimatedArg, type Estimator } from './call-estimate.ts';
import { fixed, MOST, plus, times, union, UNKNOWN, type Range } from './cost-range.ts';
import { ACCUMULATOR } from './macros.ts';
import { DYN, isOptional, type CelType } from './types.ts';
import { CelUint, stringSize } from './values.ts';

const LIST_BASE = fixed(10n);
const MAP_BASE = fixed(30n);
const NOTHING = fixed(0n);
const ONE = fixed(1n);

/** Sizes of the keys and values of a list or map, where they are known. */
interface EntrySize {
  container: 'list' | 'map';
  key: Range;
  value: Range;
}

interface LocalVariable {
  path: readonly string[];
  size?: Range;
  entries?: EntrySize;
}

/**
 * The least and the most an expression can cost, from the limits of the data it looks at. A port of cel-go's estimation, whose
 * results decide which rules a CRD may have.
 */
export function estimateCost(expr: Expr, estimator: Estimator = { sizeAt: () => undefined }): Range {
  return new CostEstimator(estimator).cost(expr);
}

class CostEstimator {
  private readonly estimator: Estimator;
  private readonly paths = new Map<Expr, readonly string[]>();
  private readonly sizes = new Map<Expr, Range>();
  private readonly entrySizes = new Map<Expr, EntrySize>();
  private readonly locals = new Map<string, LocalVariable[]>();

  constructor(estimator: Estimator) {
    this.estimator = estimator;
  }

  cost(expr: Expr): Range {
    switch (expr.kind) {
      case 'literal':
        return NOTHING;
      case 'ident':
        this.paths.set(expr, this.local(expr.name)?.path ?? [expr.name]);
        return ONE;
      case 'select':
        return this.select(expr);
      case 'call':
        return this.call(expr);
      case 'list':
        return this.list(expr);
      case 'map':
        return this.map(expr);
      case 'struct':
        return plus(
          expr.fields.reduce((sum, field) => plus(sum, this.cost(field.value)), NOTHING),
          fixed(40n),
        );
      case 'comprehension':
        return isBinding(expr) ? this.binding(expr) : this.fold(expr);
    }
  }

  private local(name: string): LocalVariable | undefined {
    return this.locals.get(name)?.at(-1);
  }

  private push(name: string, variable: LocalVariable): void {
    const stack = this.locals.get(name);
    if (stack === undefined) this.locals.set(name, [variable]);
    else stack.push(variable);
  }

  private pop(name: string): void {
    this.locals.get(name)?.pop();
  }

  private path(expr: Expr): readonly string[] {
    return (expr.kind === 'ident' ? this.local(expr.name)?.path : undefined) ?? this.paths.get(expr) ?? [];
  }

  private select(expr: Expr & { kind: 'select' }): Range {
    const operand = this.cost(expr.operand);
    if (expr.testOnly) return operand;
    this.paths.set(expr, [...this.path(expr.operand), expr.field]);
    const kind = expr.operand.type?.kind;
    return kind === 'map' || kind === 'struct' || kind === 'param' ? plus(operand, ONE) : operand;
  }

  private size(expr: Expr): Range | undefined {
    const computed = this.sizes.get(expr) ?? literalSize(expr);
    if (computed !== undefined) return computed;
    const path = this.path(expr);
    const estimated = path.length > 0 ? this.estimator.sizeAt(path) : undefined;
    if (estimated !== undefined) {
      this.sizes.set(expr, estimated);
      return estimated;
    }
    if (isScalar(expr.type ?? DYN)) return ONE;
    return expr.kind === 'ident' ? this.local(expr.name)?.size : undefined;
  }

  private entries(expr: Expr): EntrySize | undefined {
    return this.entrySizes.get(expr) ?? (expr.kind === 'ident' ? this.local(expr.name)?.entries : undefined);
  }

  private arg(expr: Expr): EstimatedArg {
    const path = this.path(expr);
    return { expr, type: expr.type ?? DYN, path: path[0] === ACCUMULATOR ? [] : path, size: this.size(expr) };
  }

  private call(expr: CallExpr): Range {
    if (expr.name === 'dyn') {
      const cost = plus(this.cost(expr.args[0]), ONE);
      this.copySizes(expr, expr.args[0]);
      return cost;
    }
    const costs = expr.args.map((arg) => this.cost(arg));
    const args = expr.args.map((arg) => this.arg(arg));
    const targetCost = expr.target === undefined ? NOTHING : this.cost(expr.target);
    const target = expr.target === undefined ? undefined : this.arg(expr.target);
    let total: Range = { min: MOST, max: 0n };
    let resultSize: Range | undefined;
    for (const overload of expr.overloads ?? []) {
      const estimate = this.overload(expr, overload, target, args, costs);
      total = union(total, estimate.cost);
      if (estimate.resultSize !== undefined) {
        resultSize = resultSize === undefined ? estimate.resultSize : union(resultSize, estimate.resultSize);
      }
      if (overload === 'index_list' || overload === 'index_map') {
        resultSize = this.entries(expr.args[0])?.value;
        this.paths.set(expr, [...this.path(expr.args[0]), overload === 'index_list' ? '@items' : '@values']);
      }
      resultSize ??= this.size(expr);
    }
    if (resultSize !== undefined) this.sizes.set(expr, resultSize);
    return plus(targetCost, total);
  }

  private overload(expr: CallExpr, overload: string, target: EstimatedArg | undefined, args: EstimatedArg[], costs: Range[]): CallEstimate {
    if (overload === 'logical_and' || overload === 'logical_or') {
      return { cost: { min: costs[0].min, max: costs.reduce(plus).max } };
    }
    if (overload === 'conditional') return this.conditional(expr, args, costs);
    const call = { name: expr.name, overload, target, args };
    const estimate = libraryEstimate(call, this.estimator) ?? standardEstimate(call);
    if (overload === 'add_list' || overload === 'add_string' || overload === 'add_bytes')
      this.uniteEntries(expr, expr.args[0], expr.args[1]);
    return { cost: plus(estimate.cost, costs.reduce(plus, NOTHING)), resultSize: estimate.resultSize };
  }

  private conditional(expr: CallExpr, args: EstimatedArg[], costs: Range[]): CallEstimate {
    this.uniteEntries(expr, expr.args[1], expr.args[2]);
    const resultSize = union(args[1].size ?? UNKNOWN, args[2].size ?? UNKNOWN);
    return { cost: plus(costs[0], union(costs[1], costs[2])), resultSize };
  }

  private uniteEntries(expr: Expr, left: Expr, right: Expr): void {
    const [a, b] = [this.entries(left), this.entries(right)];
    if (a === undefined || b === undefined) return;
    this.entrySizes.set(expr, { container: b.container, key: union(a.key, b.key), value: union(a.value, b.value) });
  }

  private copySizes(to: Expr, from: Expr): void {
    const size = this.size(from);
    const entries = this.entries(from);
    if (size !== undefined) this.sizes.set(to, size);
    if (entries !== undefined) this.entrySizes.set(to, entries);
  }

  private widest(exprs: Expr[]): Range {
    return exprs.reduce((range, expr) => union(range, this.size(expr) ?? UNKNOWN), { min: exprs.length === 0 ? 0n : MOST, max: 0n });
  }

  private list(expr: Expr & { kind: 'list' }): Range {
    const cost = expr.elements.reduce((sum, element) => plus(sum, this.cost(element)), NOTHING);
    this.entrySizes.set(expr, { container: 'list', key: ONE, value: this.widest(expr.elements) });
    return plus(cost, LIST_BASE);
  }

  private map(expr: Expr & { kind: 'map' }): Range {
    const cost = expr.entries.reduce((sum, entry) => plus(plus(sum, this.cost(entry.key)), this.cost(entry.value)), NOTHING);
    const key = this.widest(expr.entries.map((entry) => entry.key));
    const value = this.widest(expr.entries.map((entry) => entry.value));
    this.entrySizes.set(expr, { container: 'map', key, value });
    return plus(cost, MAP_BASE);
  }

  private fold(expr: ComprehensionExpr): Range {
    let sum = plus(this.cost(expr.range), this.cost(expr.accuInit));
    this.push(expr.accuVar, this.variable(expr.accuInit));
    this.pushIteration(expr);
    const loop = plus(this.cost(expr.condition), this.cost(expr.step));
    this.pop(expr.iterVar);
    if (expr.iterVar2 !== undefined) this.pop(expr.iterVar2);
    sum = plus(sum, this.cost(expr.result));
    this.pop(expr.accuVar);
    const count = this.size(expr.range) ?? UNKNOWN;
    sum = plus(sum, times(count, loop));
    if (expr.accuInit.kind === 'literal') {
      const size = this.size(expr.accuInit);
      if (size !== undefined) this.sizes.set(expr, size);
    } else if (expr.accuInit.kind === 'list' || expr.accuInit.kind === 'map') {
      this.sizes.set(expr, count);
      const entries = this.entries(expr.step);
      if (entries !== undefined) this.entrySizes.set(expr, entries);
    }
    return sum;
  }

  private variable(expr: Expr): LocalVariable {
    return { path: this.path(expr), size: this.size(expr), entries: this.entries(expr) };
  }

  private pushIteration(expr: ComprehensionExpr): void {
    const entries = this.entries(expr.range);
    const isList = (entries?.container ?? expr.range.type?.kind) === 'list';
    const path = this.path(expr.range);
    if (expr.iterVar2 === undefined) {
      this.push(expr.iterVar, { path: [...path, isList ? '@items' : '@keys'], size: isList ? entries?.value : entries?.key });
      return;
    }
    this.push(expr.iterVar, { path: [...path, isList ? '@indices' : '@keys'], size: entries?.key });
    this.push(expr.iterVar2, { path: [...path, isList ? '@items' : '@values'], size: entries?.value });
  }

  private binding(expr: ComprehensionExpr): Range {
    let sum = plus(this.cost(expr.range), this.cost(expr.accuInit));
    this.push(expr.accuVar, this.variable(expr.accuInit));
    sum = plus(sum, this.cost(expr.result));
    this.copySizes(expr, expr.result);
    this.pop(expr.accuVar);
    return sum;
  }
}

function isBinding(expr: ComprehensionExpr): boolean {
  return (
    expr.range.kind === 'list' && expr.range.elements.length === 0 && expr.condition.kind === 'literal' && expr.condition.value === false
  );
}

function literalSize(expr: Expr): Range | undefined {
  if (expr.kind === 'list') return fixed(BigInt(expr.elements.length));
  if (expr.kind === 'map') return fixed(BigInt(expr.entries.length));
  if (expr.kind !== 'literal') return undefined;
  const { value } = expr;
  if (typeof value === 'string') return fixed(BigInt(stringSize(value)));
  if (value instanceof Uint8Array) return fixed(BigInt(value.length));
  return typeof value !== 'object' || value === null || value instanceof CelUint ? ONE : undefined;
}

function isScalar(type: CelType): boolean {
  if (isOptional(type)) return isScalar(type.params[0]);
  return ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(type.kind);
}
