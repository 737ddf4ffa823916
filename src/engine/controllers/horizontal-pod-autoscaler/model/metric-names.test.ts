import { expect, test } from 'vitest';
import { milliQuantity } from './amounts.ts';
import { parseSignedGoDuration } from '../../../../kube/go-duration.ts';
import { externalName } from './metric-names.ts';

test('names of external metrics show their selector', () => {
  expect(externalName({ name: 'qps' })).toBe('external metric qps(nil)');
});

test.each([
  ['30s', 30_000],
  ['1m0s', 60_000],
  ['1h1m1.5s', 3_661_500],
  ['10.123s', 10_123],
  ['0', 0],
  ['-2s', -2000],
  ['soon', undefined],
  ['5', undefined],
])('duration %s', (text, ms) => {
  expect(parseSignedGoDuration(text)).toBe(ms);
});

/** The cases of upstream's TestBuildQuantity. */
test.each([
  [500, 'cpu', '500m'],
  [2000, 'cpu', '2'],
  [1024 * 1024 * 1000, 'memory', '1Mi'],
  [11_603_968_000, 'memory', '11332Ki'],
  [1500, 'memory', '1500m'],
  [2 ** 63, '', '9223372036854775807m'],
])('%s thousandths of %s', (amount, resource, text) => {
  expect(milliQuantity(amount, resource)).toBe(text);
});
