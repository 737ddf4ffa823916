import type { WorkMeter } from '../comparison.ts';
import type { StepCounter } from '../../schema/regex-program.ts';
import type { Sliced } from '../../schema/slices.ts';
import { NO_SUCH_OVERLOAD, type CelValue } from '../values.ts';

/** What a function may use besides its arguments. */
export interface CallContext extends WorkMeter, StepCounter {
  /** To be told before a text is made that may be long. @throws CostExceeded when it is too long for anyone */
  announceText(length: number): void;
}

/** A function over values that are no Faults. It looks at the types of its arguments itself: they may be dynamic. */
export type CelFunction = (args: CelValue[], context: CallContext) => CelValue;

/** One that may take long and pauses. */
export type SlicedFunction = (args: CelValue[], context: CallContext) => Sliced<CelValue>;

/** Functions by name. Overloads that differ in types only share one implementation. */
export type FunctionTable = Record<string, CelFunction>;

/** A function of one string. */
export function onString(apply: (text: string) => CelValue): CelFunction {
  return ([value]) => (typeof value === 'string' ? apply(value) : NO_SUCH_OVERLOAD);
}

/** A function of two strings. */
export function onStrings(apply: (first: string, second: string) => CelValue): CelFunction {
  return ([first, second]) => (typeof first === 'string' && typeof second === 'string' ? apply(first, second) : NO_SUCH_OVERLOAD);
}
