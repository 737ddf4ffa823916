import { compileRegExp, PatternError, type LinearRegExp } from '../../schema/regular-expression.ts';
import type { Sliced } from '../../schema/slices.ts';
import { Fault, NO_SUCH_OVERLOAD, ValueList, type CelValue } from '../values.ts';
import type { CallContext, SlicedFunction } from './function-table.ts';

/** Functions with regular expressions: linear in the text, which may be long and the pattern hostile, so they pause. */
function* withPattern(
  pattern: string,
  context: CallContext,
  complaint: string,
  apply: (regExp: LinearRegExp) => Sliced<CelValue>,
): Sliced<CelValue> {
  let regExp: LinearRegExp;
  try {
    regExp = compileRegExp(pattern, context);
  } catch (error) {
    if (error instanceof PatternError) return new Fault(complaint + error.message);
    throw error;
  }
  return yield* apply(regExp);
}

const ILLEGAL = 'Illegal regex: ';

export const PATTERNS: Record<string, SlicedFunction> = {
  *matches([text, pattern], context) {
    if (typeof text !== 'string' || typeof pattern !== 'string') return NO_SUCH_OVERLOAD;
    return yield* withPattern(pattern, context, '', (regExp) => regExp.test(text, context));
  },
  *find([text, pattern], context) {
    if (typeof text !== 'string' || typeof pattern !== 'string') return NO_SUCH_OVERLOAD;
    return yield* withPattern(pattern, context, ILLEGAL, function* (regExp) {
      return (yield* regExp.find(text, context)) ?? '';
    });
  },
  *findAll([text, pattern, limit], context) {
    if (typeof text !== 'string' || typeof pattern !== 'string' || (limit !== undefined && typeof limit !== 'bigint')) {
      return NO_SUCH_OVERLOAD;
    }
    return yield* withPattern(pattern, context, ILLEGAL, function* (regExp) {
      return new ValueList(yield* regExp.findAll(text, limit === undefined ? -1 : Number(limit), context));
    });
  },
};
