import type { CelType } from './types.ts';
import type { CelValue } from './values.ts';

/**
 * A parsed expression. Macros are expanded by the parser, into the same shapes that cel-go expands them to, because cost and
 * messages follow from the shape. The checker writes types and references into the nodes.
 */
export type Expr = LiteralExpr | IdentExpr | SelectExpr | CallExpr | ListExpr | MapExpr | StructExpr | ComprehensionExpr;

interface ExprBase {
  /** Where the node's own token stands, as an offset into the source's code points. */
  offset: number;
  /** Set by the checker. */
  type?: CelType;
}

export interface LiteralExpr extends ExprBase {
  kind: 'literal';
  value: CelValue;
}

export interface IdentExpr extends ExprBase {
  kind: 'ident';
  name: string;
  /** A name of a type rather than of a variable. */
  typeValue?: CelValue;
}

export interface SelectExpr extends ExprBase {
  kind: 'select';
  operand: Expr;
  field: string;
  /** `has(operand.field)`. */
  testOnly: boolean;
}

export interface CallExpr extends ExprBase {
  kind: 'call';
  name: string;
  target?: Expr;
  args: Expr[];
  /** The overloads that may apply, by the checker. */
  overloads?: string[];
}

export interface ListExpr extends ExprBase {
  kind: 'list';
  elements: Expr[];
  /** Positions of `?element`. */
  optionals: Set<number>;
}

export interface MapEntry {
  offset: number;
  key: Expr;
  value: Expr;
  optional: boolean;
}

export interface MapExpr extends ExprBase {
  kind: 'map';
  entries: MapEntry[];
}

export interface StructExpr extends ExprBase {
  kind: 'struct';
  name: string;
  fields: { offset: number; name: string; value: Expr; optional: boolean }[];
}

/** A fold: what all macros over lists and maps, and local variables, become. */
export interface ComprehensionExpr extends ExprBase {
  kind: 'comprehension';
  range: Expr;
  iterVar: string;
  iterVar2?: string;
  accuVar: string;
  accuInit: Expr;
  condition: Expr;
  step: Expr;
  result: Expr;
}

/** The dotted name that a chain of identifiers and selections spells, if it is one. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name;
  if (expr.kind !== 'select' || expr.testOnly) return undefined;
  const prefix = qualifiedName(expr.operand);
  return prefix === undefined ? undefined : `${prefix}.${expr.field}`;
}

/**
 * How many nodes an expression has, and how deep they nest. Macros use parts of an expression in several places, where they count
 * again. Neither recursive, because expressions may nest deeper than the stack, nor slower than the nodes are many.
 */
export function measure(root: Expr): { size: number; depth: number } {
  const known = new Map<Expr, { size: number; depth: number }>();
  const pending = [root];
  for (let expr = pending.at(-1); expr !== undefined; expr = pending.at(-1)) {
    const parts = children(expr);
    const unknown = known.has(expr) ? [] : parts.filter((part) => !known.has(part));
    if (unknown.length > 0) {
      pending.push(...unknown);
      continue;
    }
    pending.pop();
    if (known.has(expr)) continue;
    let [size, depth] = [1, 1];
    for (const part of parts) {
      const below = known.get(part)!;
      size += below.size;
      depth = Math.max(depth, below.depth + 1);
    }
    known.set(expr, { size, depth });
  }
  return known.get(root)!;
}

/** The direct parts of an expression. */
export function children(expr: Expr): Expr[] {
  switch (expr.kind) {
    case 'literal':
    case 'ident':
      return [];
    case 'select':
      return [expr.operand];
    case 'call':
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    case 'list':
      return expr.elements;
    case 'map':
      return expr.entries.flatMap((entry) => [entry.key, entry.value]);
    case 'struct':
      return expr.fields.map((field) => field.value);
    case 'comprehension':
      return [expr.range, expr.accuInit, expr.condition, expr.step, expr.result];
  }
}
