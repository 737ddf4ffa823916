import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalQuantity, Quantity } from './quantity.ts';

describe('canonicalQuantity', () => {
  it.each([
    ['0', '0'],
    ['00', '0'],
    ['0Ki', '0'],
    ['1', '1'],
    ['+5', '+5'],
    ['-5', '-5'],
    ['1000', '1k'],
    ['1024', '1024'],
    ['100m', '100m'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['0.5', '500m'],
    ['1.5', '1500m'],
    ['1.', '1.'],
    ['1.234', '1.234'],
    ['0100', '0100'],
    ['.001', '1m'],
    ['1.08', '1080m'],
    ['1080000000n', '1080m'],
    ['0.001T', '1G'],
    ['50k', '50k'],
    ['1024Mi', '1Gi'],
    ['307200Ki', '300Mi'],
    ['1025024Mi', '1001Gi'],
    ['0.5Mi', '512Ki'],
    ['0.5Gi', '512Mi'],
    ['1.5Gi', '1536Mi'],
    ['100.035Ki', '102435840m'],
    ['0.000000000001Ki', '2n'],
    ['9Ei', '9223372036854775807'],
    ['9223372036854775807Ki', '9223372036854775807'],
    ['12E', '12E'],
    ['1e3', '1e3'],
    ['1E3', '1E3'],
    ['1e1', '10'],
    ['1E-3', '1E-3'],
    ['.001e12', '1e9'],
    ['1000e-12', '1e-9'],
    ['1.3E+6', '1300e3'],
    ['3.001n', '4n'],
    ['1.1E-9', '2e-9'],
    ['0.0000000001', '1n'],
    ['-0.0000000001', '-1n'],
    ['0.00000012345', '124n'],
    ['100000000000000000000', '100E'],
    ['300.2T', '300200G'],
    ['5.444T', '5.444T'],
    ['1234567M', '1234567M'],
  ])('%s is %s', (text, canonical) => expect(canonicalQuantity(text)).toBe(canonical));

  it('reads numbers too', () =>
    expect([canonicalQuantity(1), canonicalQuantity(0.1), canonicalQuantity(2000)]).toEqual(['1', '100m', '2k']));

  it.each([
    ['', 'quantities must match'],
    [' ', 'quantities must match'],
    ['1.1.M', 'quantities must match'],
    ['abc', 'quantities must match'],
    ['Pi', 'unable to parse numeric part of quantity'],
    ['1 Mi', 'quantities must match'],
    ['--1', "unable to parse quantity's suffix"],
    ['1i', "unable to parse quantity's suffix"],
    ['1ki', "unable to parse quantity's suffix"],
    ['1e', "unable to parse quantity's suffix"],
    ['1e999999999', "unable to parse quantity's suffix"],
    ['9'.repeat(300), 'unable to parse numeric part of quantity'],
  ])('refuses %j', (text, message) => expect(() => canonicalQuantity(text)).toThrow(message));

  it('is stable, and keeps the amount', () => {
    const suffix = fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'Ki', 'Mi', 'Gi', 'Ti', 'e3', 'E-2');
    fc.assert(
      fc.property(fc.integer({ min: -5000, max: 5000 }), fc.nat(999), suffix, (whole, part, unit) => {
        const text = `${whole}.${part}${unit}`;
        const canonical = canonicalQuantity(text);
        expect(canonicalQuantity(canonical)).toBe(canonical);
        expect(Quantity.parse(canonical).compare(Quantity.parse(text))).toBe(0);
      }),
    );
  });
});

describe('arithmetic', () => {
  const sum = (a: string, b: string): string => Quantity.parse(a).add(Quantity.parse(b)).toString();
  const difference = (a: string, b: string): string => Quantity.parse(a).sub(Quantity.parse(b)).toString();

  it.each([
    ['100m', '900m', '1'],
    ['0', '1Gi', '1Gi'],
    ['1Gi', '1G', '2073741824'],
    ['512Mi', '512Mi', '1Gi'],
    ['1', '1e3', '1001'],
  ])('%s + %s = %s', (a, b, result) => expect(sum(a, b)).toBe(result));

  it('subtracts below zero', () =>
    expect([difference('1', '1500m'), difference('1Gi', '2Gi'), difference('1', '1')]).toEqual(['-500m', '-1Gi', '0']));

  it('compares across notations', () => {
    const compare = (a: string, b: string): number => Quantity.parse(a).compare(Quantity.parse(b));
    expect([compare('1000m', '1'), compare('1Gi', '1G'), compare('1', '1Ki'), compare('1e3', '1k')]).toEqual([0, 1, -1, 0]);
  });

  it.each([
    ['100m', 1, 100],
    ['1', 1, 1000],
    ['1500m', 2, 1500],
    ['-100m', -1, -100],
    ['1Ki', 1024, 1024000],
    ['1n', 1, 1],
  ])('%s has value %d and %d thousandths', (text, value, milli) => {
    expect([Quantity.parse(text).value(), Quantity.parse(text).milliValue()]).toEqual([value, milli]);
  });

  it('makes quantities from numbers', () => {
    expect([String(Quantity.of(1024, 'BinarySI')), String(Quantity.ofMilli(1500)), JSON.stringify(Quantity.of(5))]).toEqual([
      '1Ki',
      '1500m',
      '"5"',
    ]);
  });
});
