import { describe, expect, it } from 'vitest';
import { isPercentage, scaledValue } from './int-or-string.ts';

describe('scaledValue', () => {
  it.each<[number | string, number, 'up' | 'down', number]>([
    [3, 10, 'up', 3],
    ['25%', 10, 'up', 3],
    ['25%', 10, 'down', 2],
    ['0%', 10, 'up', 0],
    ['150%', 4, 'down', 6],
  ])('%s of %d rounded %s', (value, total, rounding, expected) => expect(scaledValue(value, total, rounding)).toBe(expected));

  it.each([
    ['5', 'invalid value for IntOrString: invalid type: string is not a percentage'],
    ['x%', 'invalid value for IntOrString: invalid value "x%": strconv.Atoi: parsing "x": invalid syntax'],
  ])('refuses %s', (value, message) => expect(() => scaledValue(value, 1, 'up')).toThrow(message));
});

it('isPercentage tells percentages from numbers and names', () => {
  expect([isPercentage('5%'), isPercentage('5'), isPercentage(5), isPercentage('http')]).toEqual([true, false, false, false]);
});
