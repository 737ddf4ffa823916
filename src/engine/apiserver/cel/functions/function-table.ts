import type { WorkMeter } from '../comparison.ts';
import { NO_SUCH_OVERLOAD, type CelValue } from '../values.ts';

/** What a function may use besides its arguments. */
export type CallContext = WorkMeter;

/** A function over values that are no Faults. It looks at the types of its arguments itself: they may be dynamic. */
export type CelFunction = (args: CelValue[], context: CallContext) => CelValue;

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
