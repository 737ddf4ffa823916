import { expect, it } from 'vitest';
import { formatTraceparent, newSpanId, parseTraceparent } from './trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

it.each([
  ['a sampled parent', `00-${TRACE}-${SPAN}-01`, { traceId: TRACE, spanId: SPAN, sampled: true }],
  ['a parent that is not sampled', `00-${TRACE}-${SPAN}-00`, { traceId: TRACE, spanId: SPAN, sampled: false }],
  ['flags that are not known yet', `00-${TRACE}-${SPAN}-03`, { traceId: TRACE, spanId: SPAN, sampled: true }],
  ['a later version with more in it', `cc-${TRACE}-${SPAN}-01-more`, { traceId: TRACE, spanId: SPAN, sampled: true }],
  ['more than version 00 has', `00-${TRACE}-${SPAN}-01-more`, undefined],
  ['the forbidden version', `ff-${TRACE}-${SPAN}-01`, undefined],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`, undefined],
  ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
  ['capital letters', `00-${TRACE.toUpperCase()}-${SPAN}-01`, undefined],
  ['nothing', undefined, undefined],
  ['nonsense', 'hello', undefined],
])('parseTraceparent of %s', (_name, text, expected) => {
  expect(parseTraceparent(text)).toEqual(expected);
});

it('what is formatted is parsed again', () => {
  const context = { traceId: TRACE, spanId: newSpanId(), sampled: true };
  expect(parseTraceparent(formatTraceparent(context))).toEqual(context);
});
