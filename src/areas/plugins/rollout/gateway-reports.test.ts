import { expect, test } from 'vitest';
import { GatewayReports } from './gateway-reports.ts';

const reports = new GatewayReports({} as never, { get: () => ({}) } as never);
const report = (told: object) => ({ metadata: {}, data: { 'report.json': JSON.stringify(told) } }) as never;
const before = report({
  'a/x': { revision: 1, versions: {} },
  'a/y': { revision: 1, versions: {} },
  'a/gone': { revision: 4, versions: {} },
});
const after = report({
  'a/x': { revision: 2, versions: {} },
  'a/y': { revision: 1, versions: {} },
  'a/new': { revision: 1, versions: {} },
});

test('installationsIn are those that a report says something else of', () => {
  expect(reports.installationsIn({ type: 'modified', object: after, previous: before })).toEqual(['a/x', 'a/new', 'a/gone']);
  expect(reports.installationsIn({ type: 'modified', object: after, previous: after })).toEqual([]);
  expect(reports.installationsIn({ type: 'added', object: after })).toEqual(['a/x', 'a/y', 'a/new']);
});
