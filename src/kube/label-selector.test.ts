import { describe, expect, it } from 'vitest';
import { fieldErrorText } from './field-error.ts';
import { formatLabelSelector, labelSelectorMatcher, parseLabelSelector, validateLabelSelector } from './label-selector.ts';

const refusal = (text: string): string => {
  try {
    parseLabelSelector(text);
  } catch (error) {
    return (error as Error).message;
  }
  return 'accepted';
};

describe('parseLabelSelector prints back what it read', () => {
  it.each([
    ['', ''],
    ['x=a,y=b,z=c', 'x=a,y=b,z=c'],
    ['x= ,z= ', 'x=,z='],
    ['!x', '!x'],
    ['x>1,z<5', 'x>1,z<5'],
    ['\rx', 'x'],
    ['x==a', 'x==a'],
    ['0.1.2.domain/99 notin (10.10.100.1, tick.tack.clock)', '0.1.2.domain/99 notin (10.10.100.1,tick.tack.clock)'],
    ['x in (abc,)', 'x in (,abc)'],
    ['x in (a,,a,,)', 'x in (,a)'],
    ['x in ()', 'x in ()'],
    ['x notin (, a)', 'x notin (,a)'],
    ['a in (x,y,notin, z,in)', 'a in (in,notin,x,y,z)'],
    ['x notin (abc,,def),bar,z in (),w', 'bar,w,x notin (,abc,def),z in ()'],
    ['notin=in', 'notin=in'],
  ])('%j', (text, printed) => expect(parseLabelSelector(text).toString()).toBe(printed));
});

describe('parseLabelSelector refuses', () => {
  const operators = 'in, notin, =, ==, !=, gt, lt';
  it.each([
    ['x,,y', "found ',', expected: identifier after ','"],
    [',x,y', "found ',', expected: !, identifier, or 'end of string'"],
    ['x nott in (y)', `unable to parse requirement: found 'nott', expected: ${operators}`],
    ['a in (xyz),', "found '', expected: identifier after ','"],
    ['a in (xyz)b notin ()', "found 'b', expected: ',' or 'end of string'"],
    ['a in (xyz abc)', "unable to parse requirement: found 'abc', expected: ',' or ')'"],
    ['a notin(', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['a (', `unable to parse requirement: found '(', expected: ${operators}`],
    ['(', "found '(', expected: !, identifier, or 'end of string'"],
    ['!x=a', "found '=', expected: ',' or 'end of string'"],
    ['x==a==b', "found '==', expected: ',' or 'end of string'"],
    ['x<a', `unable to parse requirement: values[0]: Invalid value: "a": for 'Gt', 'Lt' operators, the value must be an integer`],
  ])('%j', (text, message) => expect(refusal(text)).toBe(message));

  it('bad keys and values with the rule they break', () => {
    expect(refusal('a/b/c=d')).toMatch(/^unable to parse requirement: <nil>: Invalid value: "a\/b\/c": a valid label key must consist/);
    expect(refusal('a=b_')).toMatch(/^unable to parse requirement: values\[0\]\[a\]: Invalid value: "b_": a valid label must be/);
  });
});

describe('matches', () => {
  it.each<[string, Record<string, string> | undefined, boolean]>([
    ['', { x: 'y' }, true],
    ['x=y', { x: 'y' }, true],
    ['x=y,z=w', { x: 'w', z: 'w' }, false],
    ['x!=y,z!=w', { x: 'z', z: 'a' }, true],
    ['x!=y', undefined, true],
    ['x=y', undefined, false],
    ['x', { x: '' }, true],
    ['!x', { x: 'z' }, false],
    ['x>1', { x: '2' }, true],
    ['x>1', { x: 'two' }, false],
    ['x<1', { x: '-9223372036854775808' }, true],
    ['x in (a,b)', { x: 'b' }, true],
    ['x notin (a,b)', {}, true],
    ['constructor', {}, false],
    ['toString!=a', {}, true],
  ])('%j on %j', (text, labels, expected) => expect(parseLabelSelector(text).matches(labels)).toBe(expected));
});

describe('selector objects', () => {
  const expression = (operator: string, values?: string[]) => ({ matchExpressions: [{ key: 'a', operator, values }] });

  it('none selects nothing, an empty one everything', () => {
    expect(labelSelectorMatcher(undefined).matches({})).toBe(false);
    expect(labelSelectorMatcher({}).matches(undefined)).toBe(true);
  });

  it('labels and expressions must all hold', () => {
    const matcher = labelSelectorMatcher({ matchLabels: { x: 'y' }, ...expression('NotIn', ['b']) });
    expect([matcher.matches({ x: 'y' }), matcher.matches({ x: 'y', a: 'b' }), matcher.matches({ a: 'c' })]).toEqual([true, false, false]);
    expect(matcher.toString()).toBe('a notin (b),x=y');
  });

  it('print for people', () => {
    expect([formatLabelSelector({}), formatLabelSelector({ matchLabels: { a: 'b' } }), formatLabelSelector(expression('Foo'))]).toEqual([
      '<none>',
      'a=b',
      '<error>',
    ]);
  });

  it.each([
    [expression('In', []), "s.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"],
    [
      expression('Exists', ['a']),
      "s.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    ],
    [expression('exists'), 's.matchExpressions[0].operator: Invalid value: "exists": not a valid selector operator'],
  ])('validation of %j', (selector, text) => expect(validateLabelSelector(selector, 's').map(fieldErrorText)).toEqual([text]));

  it('invalid values are tolerated where asked', () => {
    expect(validateLabelSelector(expression('In', ['b_']), 's')).toHaveLength(1);
    expect(validateLabelSelector(expression('In', ['b_']), 's', { allowInvalidValues: true })).toEqual([]);
  });
});
