import type { WorkMeter } from './comparison.ts';
import { Fault, type CelValue } from './values.ts';

/** The budget of one evaluation ran out. Unlike a Fault nothing absorbs it. */
export class CostExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

/** Elements that comparisons may look at for each unit of cost: their cost does not count what is inside. */
const WORK_PER_COST = 20;
const PAUSE_EVERY = 512;

/** The state of one evaluation: its variables, and what it has spent. */
export class Frame implements WorkMeter {
  cost = 0;
  private work = 0;
  private iterations = 0;
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
    if (this.work > this.limit * WORK_PER_COST) throw new CostExceeded();
  }

  /** True now and then, when a long evaluation should pause. */
  isDue(): boolean {
    return ++this.iterations % PAUSE_EVERY === 0;
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
