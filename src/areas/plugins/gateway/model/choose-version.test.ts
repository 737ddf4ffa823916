import { expect, test } from 'vitest';
import { versionsFor } from './choose-version.ts';

const route = (version: string, weight: number) => ({ version, workload: version, weight });
const versions = (routes: ReturnType<typeof route>[], at: number) => versionsFor(routes, at).map(({ version }) => version);

test.each([
  [0, ['1', '2']],
  [0.89, ['1', '2']],
  [0.9, ['2', '1']],
  [0.999, ['2', '1']],
])('versionsFor at %d of 90 to 10', (at, expected) => {
  expect(versions([route('1', 90), route('2', 10)], at)).toEqual(expected);
});

test('versionsFor gives nothing to a version without weight', () => {
  expect(versions([route('1', 0), route('2', 100)], 0)).toEqual(['2']);
  expect(versions([route('1', 0)], 0.5)).toEqual([]);
});
