import { spendText } from './comparison.ts';
import type { CallContext } from './functions/function-table.ts';
import { Fault, type CelValue } from './values.ts';

/** The budget of one evaluation ran out. Unlike a Fault nothing absorbs it. */
export class CostExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

/** Steps of work for each unit of cost, beyond which an evaluation ends although its cost is within limits. */
const WORK_PER_COST = 5;
const PAUSE_EVERY = 1024;
/** Steps that one turn of a fold counts for when it is time to pause. */
const FOLD_TURN = 4;
const LONGEST_TEXT = 4_000_000;

/** The state of one evaluation: its variables, and what it has spent. */
export class Frame implements CallContext {
  cost = 0;
  private work = 0;
  private sincePause = 0;
  private readonly limit: number;
  private readonly variables: ReadonlyMap<string, CelValue>;
  private readonly locals = new Map<string, CelValue[]>();

  constructor(variables: ReadonlyMap<string, CelValue>, limit: number) {
    this.variables = variables;
    this.limit = limit;
  }

  /** Adds to the cost. Returns undefined, so that it can stand before the value it pays for. @throws CostExceeded */
  charge(cost: number): undefined {
    this.cost += cost;
    if (this.cost > this.limit) throw new CostExceeded();
    return undefined;
  }

  refund(cost: number): void {
    this.cost += cost;
  }

  spend(steps: number): void {
    this.work += steps;
    this.sincePause += steps;
    if (this.work > this.limit * WORK_PER_COST) throw new CostExceeded();
  }

  /** Work that can pause: true when it should. */
  tick(steps: number): boolean {
    this.spend(steps);
    return this.isPauseDue(0);
  }

  announceText(length: number): void {
    if (length > LONGEST_TEXT) throw new CostExceeded();
    spendText(length, this);
  }

  /** True now and then, when a long evaluation should pause: asked at each turn of a fold. */
  isPauseDue(steps = FOLD_TURN): boolean {
    this.sincePause += steps;
    if (this.sincePause < PAUSE_EVERY) return false;
    this.sincePause = 0;
    return true;
  }

  read(name: string): CelValue {
    const stack = this.locals.get(name);
    if (stack !== undefined && stack.length > 0) return stack[stack.length - 1];
    return this.variables.get(name) ?? this.missing(name);
  }

  private missing(name: string): CelValue {
    return this.variables.has(name) ? null : new Fault(`no such attribute(s): ${name}`);
  }

  push(name: string, value: CelValue): void {
    const stack = this.locals.get(name);
    if (stack === undefined) this.locals.set(name, [value]);
    else stack.push(value);
  }

  pop(name: string): void {
    this.locals.get(name)?.pop();
  }

  peek(name: string): CelValue {
    return this.read(name);
  }

  replace(name: string, value: CelValue): void {
    const stack = this.locals.get(name)!;
    stack[stack.length - 1] = value;
  }
}
