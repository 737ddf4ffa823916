import type { ComprehensionExpr } from './ast.ts';
import type { Frame } from './frame.ts';
import { ACCUMULATOR } from './macros.ts';
import type { SlicedValue, Step } from './step.ts';
import { CelList, CelMap, Fault, NO_SUCH_OVERLOAD, ValueList, ValueMap, type CelValue } from './values.ts';

/** A fold, from its planned parts. */
export function planFold(expr: ComprehensionExpr, parts: FoldParts): Step {
  if (isBinding(expr)) return planBinding(expr, parts.init, parts.result);
  const start = expr.accuVar === ACCUMULATOR && expr.accuInit.kind === 'list' ? 'list' : expr.accuInit.kind === 'map' ? 'map' : 'value';
  const loop = new Fold(expr, parts, start);
  return { run: (frame) => loop.run(frame), sliced: (frame) => loop.sliced(frame) };
}

/** A fold over nothing: a local variable. */
function isBinding(expr: ComprehensionExpr): boolean {
  return (
    expr.range.kind === 'list' && expr.range.elements.length === 0 && expr.condition.kind === 'literal' && expr.condition.value === false
  );
}

function planBinding(expr: ComprehensionExpr, init: Step, result: Step): Step {
  return {
    run: (frame) => {
      frame.push(expr.accuVar, init.run(frame));
      const found = result.run(frame);
      frame.pop(expr.accuVar);
      return found;
    },
    sliced: function* (frame: Frame): SlicedValue {
      const value = init.sliced === undefined ? init.run(frame) : yield* init.sliced(frame);
      frame.push(expr.accuVar, value);
      const found = result.sliced === undefined ? result.run(frame) : yield* result.sliced(frame);
      frame.pop(expr.accuVar);
      return found;
    },
  };
}

export interface FoldParts {
  range: Step;
  init: Step;
  condition: Step;
  step: Step;
  result: Step;
}

class Fold {
  private readonly expr: ComprehensionExpr;
  private readonly parts: FoldParts;
  private readonly start: 'list' | 'map' | 'value';

  constructor(expr: ComprehensionExpr, parts: FoldParts, start: 'list' | 'map' | 'value') {
    this.expr = expr;
    this.parts = parts;
    this.start = start;
  }

  run(frame: Frame): CelValue {
    const items = itemsOf(this.parts.range.run(frame), this.expr.iterVar2 !== undefined, frame);
    if (items instanceof Fault) return items;
    this.enter(frame, this.first(frame));
    const { condition, step, result } = this.parts;
    for (let at = 0; at < items.size; at++) {
      this.next(frame, items, at);
      const goesOn = condition.run(frame);
      if (goesOn === false || goesOn instanceof Fault) break;
      frame.replace(this.expr.accuVar, step.run(frame));
    }
    this.leaveLoop(frame);
    const value = result.run(frame);
    frame.pop(this.expr.accuVar);
    return value;
  }

  *sliced(frame: Frame): SlicedValue {
    const { range, condition, step, result } = this.parts;
    const items = itemsOf(
      range.sliced === undefined ? range.run(frame) : yield* range.sliced(frame),
      this.expr.iterVar2 !== undefined,
      frame,
    );
    if (items instanceof Fault) return items;
    this.enter(frame, this.first(frame));
    for (let at = 0; at < items.size; at++) {
      if (frame.isPauseDue()) yield;
      this.next(frame, items, at);
      const goesOn = condition.run(frame);
      if (goesOn === false || goesOn instanceof Fault) break;
      frame.replace(this.expr.accuVar, step.sliced === undefined ? step.run(frame) : yield* step.sliced(frame));
    }
    this.leaveLoop(frame);
    const value = result.sliced === undefined ? result.run(frame) : yield* result.sliced(frame);
    frame.pop(this.expr.accuVar);
    return value;
  }

  private first(frame: Frame): CelValue {
    if (this.start === 'list') return new ValueList([], true);
    return this.start === 'map' ? new ValueMap(true) : this.parts.init.run(frame);
  }

  private enter(frame: Frame, accumulator: CelValue): void {
    frame.push(this.expr.accuVar, accumulator);
    frame.push(this.expr.iterVar, null);
    if (this.expr.iterVar2 !== undefined) frame.push(this.expr.iterVar2, null);
  }

  private next(frame: Frame, items: Items, at: number): void {
    frame.replace(this.expr.iterVar, items.first(at));
    if (this.expr.iterVar2 !== undefined) frame.replace(this.expr.iterVar2, items.second(at));
  }

  private leaveLoop(frame: Frame): void {
    if (this.expr.iterVar2 !== undefined) frame.pop(this.expr.iterVar2);
    frame.pop(this.expr.iterVar);
    const accumulator = frame.peek(this.expr.accuVar);
    if (accumulator instanceof ValueList || accumulator instanceof ValueMap) accumulator.settle();
  }
}

interface Items {
  size: number;
  first(at: number): CelValue;
  second(at: number): CelValue;
}

/** What a fold goes over: elements, or keys; with two variables, positions or keys and their values. */
function itemsOf(range: CelValue, pairs: boolean, frame: Frame): Items | Fault {
  if (range instanceof Fault) return range;
  if (range instanceof CelList) {
    return { size: range.size, first: (at) => (pairs ? BigInt(at) : range.get(at)), second: (at) => range.get(at) };
  }
  if (!(range instanceof CelMap)) return NO_SUCH_OVERLOAD;
  const keys = range.keys();
  frame.spend(keys.length);
  return { size: keys.length, first: (at) => keys[at], second: (at) => range.find(keys[at]) ?? null };
}
