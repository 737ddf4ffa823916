import type { CallExpr, Expr, ListExpr, MapExpr, SelectExpr } from './ast.ts';
import { callCost, needsResult } from './call-cost.ts';
import { spendText } from './comparison.ts';
import { indexValue, presence, selectField } from './access.ts';
import type { Frame } from './frame.ts';
import type { CallContext } from './functions/function-table.ts';
import { implementation, slicedImplementation } from './functions/library.ts';
import { planFold } from './plan-fold.ts';
import { runToEnd } from '../schema/slices.ts';
import type { SlicedValue, Step } from './step.ts';
import { CelList, CelOptional, Fault, mapKey, NO_SUCH_OVERLOAD, NONE, shown, ValueList, ValueMap, type CelValue } from './values.ts';

/** The program cannot be made: a conversion of a literal fails. */
export class PlanError extends Error {}

const LIST_COST = 10;
const MAP_COST = 30;

/** Turns a checked expression into steps. Constant parts are evaluated now, as cel-go does: they cost nothing later. */
export function plan(expr: Expr): Step {
  switch (expr.kind) {
    case 'literal':
      return constant(expr.value);
    case 'ident': {
      if (expr.typeValue !== undefined) return constant(expr.typeValue);
      const { name } = expr;
      return { attribute: true, run: (frame) => frame.charge(1) ?? frame.read(name) };
    }
    case 'select':
      return planSelect(expr);
    case 'call':
      return planCall(expr);
    case 'list':
      return planList(expr);
    case 'map':
      return planMap(expr);
    case 'comprehension':
      return planFold(expr, {
        range: plan(expr.range),
        init: plan(expr.accuInit),
        condition: plan(expr.condition),
        step: plan(expr.step),
        result: plan(expr.result),
      });
    case 'struct':
      throw new PlanError(`unknown type: ${expr.name}`);
  }
}

function constant(value: CelValue): Step {
  return { constant: { value }, run: () => value };
}

/**
 * Makes a step of parts that are evaluated in order and given to `apply`. With `stops`, the parts after one that failed are not
 * evaluated: `apply` gets what there is.
 */
function strict(parts: Step[], apply: (frame: Frame, values: CelValue[]) => CelValue, stops = false): Step {
  const run = (frame: Frame): CelValue => {
    const values: CelValue[] = [];
    for (const part of parts) {
      const value = part.run(frame);
      values.push(value);
      if (stops && value instanceof Fault) break;
    }
    return apply(frame, values);
  };
  if (!parts.some((part) => part.sliced !== undefined)) return { run };
  const sliced = function* (frame: Frame): SlicedValue {
    const values: CelValue[] = [];
    for (const part of parts) {
      const value = part.sliced === undefined ? part.run(frame) : yield* part.sliced(frame);
      values.push(value);
      if (stops && value instanceof Fault) break;
    }
    return apply(frame, values);
  };
  return { run, sliced };
}

/** What it costs to reach into something that is no path into a variable. */
function relativeCost(operand: Step): number {
  return operand.attribute ? 0 : 1;
}

/** Nothing further is looked up, nor paid for, once a path met an error or an absent optional. */
function endsPath(value: CelValue): boolean {
  return value instanceof Fault || value === NONE;
}

function planSelect(expr: SelectExpr): Step {
  const operand = plan(expr.operand);
  const { field } = expr;
  const base = relativeCost(operand);
  const apply = expr.testOnly
    ? (frame: Frame, [value]: CelValue[]): CelValue => frame.charge(base) ?? presence(value, field)
    : (frame: Frame, [value]: CelValue[]): CelValue => frame.charge(endsPath(value) ? base : base + 1) ?? selectField(value, field);
  return { ...strict([operand], apply), attribute: !expr.testOnly };
}

function planIndex(expr: CallExpr, optional: boolean): Step {
  const [operand, index] = expr.args.map(plan);
  const base = relativeCost(operand);
  // An index that is a path costs what the path costs.
  const own = index.attribute ? 0 : 1;
  const apply = (frame: Frame, [value, key]: CelValue[]): CelValue => {
    const found = indexValue(value, key, optional);
    const reached = !endsPath(value) && !(optional && found === NONE);
    return frame.charge(base + (reached ? own : 0)) ?? found;
  };
  return { ...strict([operand, index], apply), attribute: true };
}

const LOGIC: Record<string, boolean> = { '_&&_': false, '_||_': true };

function planCall(expr: CallExpr): Step {
  if (Object.hasOwn(LOGIC, expr.name)) return planLogic(expr.args.map(plan), LOGIC[expr.name]);
  if (expr.name === '_?_:_') return planConditional(expr);
  if (expr.name === '_[_]') return planIndex(expr, false);
  if (expr.name === '_[?_]' || expr.name === '_?._') return planIndex(expr, true);
  const args = (expr.target === undefined ? expr.args : [expr.target, ...expr.args]).map(plan);
  if (expr.name === 'or' || expr.name === 'orValue') return planOptionalOr(args, expr.name === 'orValue');
  if (expr.name === '@not_strictly_false') return planNotStrictlyFalse(args[0]);
  return planFunction(expr, args);
}

/** Functions whose result for a constant is computed when the program is made. */
const FOLDED = new Set(['bool', 'bytes', 'double', 'duration', 'dyn', 'int', 'string', 'timestamp', 'type', 'uint']);

const UNMETERED: CallContext = { spend: () => {}, tick: () => false, announceText: () => {} };

function planFunction(expr: CallExpr, args: Step[]): Step {
  const overload = expr.overloads?.length === 1 ? expr.overloads[0] : '';
  if (slicedImplementation(expr.name) !== undefined) return planPausing(expr.name, overload, args);
  const apply = implementation(expr.name);
  if (apply === undefined) throw new PlanError(`no such overload: ${expr.name}`);
  if (FOLDED.has(expr.name) && args.length === 1 && args[0].constant !== undefined) {
    const value = apply([args[0].constant.value], UNMETERED);
    if (value instanceof Fault) throw new PlanError(value.message);
    return constant(value);
  }
  const membership = overload === 'in_list' ? constantMembership(args) : undefined;
  if (membership !== undefined) return membership;
  const cost = callCost(expr.name, overload);
  const paysAfter = needsResult(expr.name, overload);
  return strict(args, (frame, values) => {
    const fault = takeStock(frame, values);
    if (!paysAfter) frame.charge(cost(values, null, overload, frame));
    const result = fault ?? apply(values, frame);
    return paysAfter ? (frame.charge(cost(values, result, overload, frame)) ?? result) : result;
  });
}

/** The first argument that failed. Counts what it takes to read the others. */
function takeStock(frame: Frame, values: readonly CelValue[]): Fault | undefined {
  let fault: Fault | undefined;
  for (const value of values) {
    if (typeof value === 'string') spendText(value.length, frame);
    else if (value instanceof Fault) fault ??= value;
  }
  return fault;
}

/** A call of a function that may take long. */
function planPausing(name: string, overload: string, args: Step[]): Step {
  const apply = slicedImplementation(name)!;
  const cost = callCost(name, overload);
  const call = function* (frame: Frame, values: CelValue[]): SlicedValue {
    const fault = takeStock(frame, values);
    frame.charge(cost(values, null, overload, frame));
    return fault ?? (yield* apply(values, frame));
  };
  return {
    run: (frame) =>
      runToEnd(
        call(
          frame,
          args.map((arg) => arg.run(frame)),
        ),
      ),
    sliced: function* (frame: Frame): SlicedValue {
      const values: CelValue[] = [];
      for (const arg of args) values.push(arg.sliced === undefined ? arg.run(frame) : yield* arg.sliced(frame));
      return yield* call(frame, values);
    },
  };
}

/** `x in [constants]` is a look-up that costs nothing. */
function constantMembership([needle, list]: Step[]): Step | undefined {
  const value = list.constant?.value;
  if (!(value instanceof CelList)) return undefined;
  if (value.size === 0) return constant(false);
  const keys = new Set<string>();
  for (const item of value) {
    const key = mapKey(item);
    if (key === undefined) return undefined;
    keys.add(key);
  }
  const apply = (_: Frame, [found]: CelValue[]): CelValue => {
    if (found instanceof Fault) return found;
    const key = mapKey(found);
    return key !== undefined && keys.has(key);
  };
  const step = strict([needle], apply);
  return needle.constant === undefined ? step : constant(apply(undefined as never, [needle.constant.value]));
}

/** `&&` and `||`: a deciding operand wins over an error in another. */
function planLogic(terms: Step[], decisive: boolean): Step {
  const fold = (value: CelValue, fault: Fault | undefined): { done?: boolean; fault?: Fault } => {
    if (value === decisive) return { done: true };
    if (typeof value === 'boolean') return { fault };
    return { fault: fault ?? (value instanceof Fault ? value : NO_SUCH_OVERLOAD) };
  };
  const run = (frame: Frame): CelValue => {
    let fault: Fault | undefined;
    for (const term of terms) {
      const next = fold(term.run(frame), fault);
      if (next.done) return decisive;
      fault = next.fault;
    }
    return fault ?? !decisive;
  };
  if (!terms.some((term) => term.sliced !== undefined)) return { run };
  const sliced = function* (frame: Frame): SlicedValue {
    let fault: Fault | undefined;
    for (const term of terms) {
      const next = fold(term.sliced === undefined ? term.run(frame) : yield* term.sliced(frame), fault);
      if (next.done) return decisive;
      fault = next.fault;
    }
    return fault ?? !decisive;
  };
  return { run, sliced };
}

function planConditional(expr: CallExpr): Step {
  const [condition, whenTrue, whenFalse] = expr.args.map(plan);
  const pick = (value: CelValue): Step | Fault => {
    if (value === true) return whenTrue;
    if (value === false) return whenFalse;
    return value instanceof Fault ? value : NO_SUCH_OVERLOAD;
  };
  // A branch that is a path is resolved without the cost of its variable. A nested conditional never had that cost.
  const rebate = (branch: Step): number => (branch.attribute && branch !== undefined && !conditionals.has(branch) ? -1 : 0);
  const step: Step = {
    attribute: true,
    run: (frame) => {
      const branch = pick(condition.run(frame));
      if (branch instanceof Fault) return branch;
      frame.refund(rebate(branch));
      return branch.run(frame);
    },
  };
  conditionals.add(step);
  if ([condition, whenTrue, whenFalse].some((part) => part.sliced !== undefined)) {
    step.sliced = function* (frame: Frame): SlicedValue {
      const branch = pick(condition.sliced === undefined ? condition.run(frame) : yield* condition.sliced(frame));
      if (branch instanceof Fault) return branch;
      frame.refund(rebate(branch));
      return branch.sliced === undefined ? branch.run(frame) : yield* branch.sliced(frame);
    };
  }
  return step;
}

const conditionals = new WeakSet<Step>();

/** `a.or(b)` and `a.orValue(b)`: b is evaluated only when it is needed. */
function planOptionalOr([first, second]: Step[], unwraps: boolean): Step {
  const decide = (value: CelValue): CelValue | undefined => {
    if (value instanceof Fault) return value;
    if (!(value instanceof CelOptional)) return NO_SUCH_OVERLOAD;
    return value.value === undefined ? undefined : unwraps ? value.value : value;
  };
  const step: Step = { run: (frame) => decide(first.run(frame)) ?? second.run(frame) };
  if (first.sliced === undefined && second.sliced === undefined) return step;
  step.sliced = function* (frame: Frame): SlicedValue {
    const decided = decide(first.sliced === undefined ? first.run(frame) : yield* first.sliced(frame));
    if (decided !== undefined) return decided;
    return second.sliced === undefined ? second.run(frame) : yield* second.sliced(frame);
  };
  return step;
}

function planNotStrictlyFalse(operand: Step): Step {
  return strict([operand], (frame, [value]) => frame.charge(1) ?? value !== false);
}

function planList(expr: ListExpr): Step {
  const elements = expr.elements.map(plan);
  if (elements.every((element) => element.constant !== undefined) && expr.optionals.size === 0) {
    return constant(new ValueList(elements.map((element) => element.constant!.value)));
  }
  const build = (values: CelValue[]): CelValue => {
    const items: CelValue[] = [];
    for (const [at, value] of values.entries()) {
      if (value instanceof Fault) return value;
      if (!expr.optionals.has(at)) items.push(value);
      else if (!(value instanceof CelOptional)) return new Fault('cannot initialize optional list element from non-optional value');
      else if (value.value !== undefined) items.push(value.value);
    }
    return new ValueList(items);
  };
  return strict(elements, (frame, values) => frame.charge(LIST_COST) ?? build(values), true);
}

function planMap(expr: MapExpr): Step {
  const parts = expr.entries.flatMap((entry) => [plan(entry.key), plan(entry.value)]);
  const build = (values: CelValue[]): CelValue => {
    const map = new ValueMap();
    for (const [at, entry] of expr.entries.entries()) {
      const key = values[at * 2];
      let value = values[at * 2 + 1];
      if (key instanceof Fault) return key;
      if (value instanceof Fault) return value;
      if (entry.optional) {
        if (!(value instanceof CelOptional)) return new Fault(`cannot initialize optional entry '${shown(key)}' from non-optional value`);
        if (value.value === undefined) continue;
        value = value.value;
      }
      const fault = map.set(key, value);
      if (fault !== undefined) return fault;
    }
    return map;
  };
  if (parts.every((part) => part.constant !== undefined)) {
    const built = build(parts.map((part) => part.constant!.value));
    return { ...constant(built), attribute: false };
  }
  return strict(parts, (frame, values) => frame.charge(MAP_COST) ?? build(values), true);
}
