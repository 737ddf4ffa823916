import { describe, expect, test } from 'vitest';
import { readRows } from '../../api/tenantry.dev/v1alpha1/metering.ts';
import { csvOf, periodOf, reportCells, usageIn } from './report-lines.ts';

const NOW = Date.parse('2026-11-15T16:30:00Z');

describe('the period of a report', () => {
  test.each([
    ['this month until now', {}, '2026-11-01T00:00:00.000Z', '2026-11-15T16:30:00.000Z'],
    ['days', { from: '2026-10-01', to: '2026-11-01' }, '2026-10-01T00:00:00.000Z', '2026-11-01T00:00:00.000Z'],
    ['times', { from: '2026-11-15T08:00:00Z' }, '2026-11-15T08:00:00.000Z', '2026-11-15T16:30:00.000Z'],
  ])('%s', (_name, flags, from, to) => {
    expect(periodOf(flags, NOW)).toEqual({ from: Date.parse(from), to: Date.parse(to) });
  });

  test.each([
    ['no time', { from: 'yesterday' }, 'Cannot read --from "yesterday": it is no time; write a day'],
    ['the wrong way round', { from: '2026-11-02', to: '2026-11-01' }, 'the period ends before it begins'],
  ])('%s is refused', (_name, flags, message) => {
    expect(() => periodOf(flags, NOW)).toThrow(message);
  });
});

const records = [
  { tenant: 'beta', rows: readRows({ '2026-11-14': '{"beta":[3600]}' }) },
  {
    tenant: 'acme',
    rows: readRows({
      '2026-10-31': '{"acme":[999]}',
      '2026-11-01': '{"acme":[3600,0,1],"acme--dev":[0,0,0,0,0,2,7.5]}',
      '2026-11-15T16': '{"acme":[1800,360]}',
    }),
  },
  // Somebody else who counts for the tenant.
  { tenant: 'acme', rows: readRows({ '2026-11-15T16': '{"acme":[0,0,0,0,0,0,0,1234]}' }) },
];

test('a report adds up what is on record in its period, by tenant and namespace', () => {
  expect(usageIn(periodOf({}, NOW), records)).toEqual([
    { tenant: 'acme', namespace: 'acme', cpuSeconds: 5400, cpuUsedSeconds: 360, memoryGiBHours: 1, tokens: 1234 },
    { tenant: 'acme', namespace: 'acme--dev', runs: 2, runSeconds: 7.5 },
    { tenant: 'beta', namespace: 'beta', cpuSeconds: 3600 },
  ]);
  expect(usageIn(periodOf({ from: '2026-10-01', to: '2026-11-01' }, NOW), records)).toEqual([
    { tenant: 'acme', namespace: 'acme', cpuSeconds: 999 },
  ]);
});

test('what is added up is as exact as what was on record', () => {
  const rows = readRows({ '2026-11-02': '{"acme":[0.1]}', '2026-11-03': '{"acme":[0.2]}' });
  expect(usageIn(periodOf({}, NOW), [{ tenant: 'acme', rows }])).toEqual([{ tenant: 'acme', namespace: 'acme', cpuSeconds: 0.3 }]);
});

test('people see hours and dashes, programs all numbers', () => {
  const [line] = usageIn(periodOf({}, NOW), records);
  expect(reportCells(line)).toEqual(['acme', 'acme', '1.500', '0.100', '1.000', '-', '-', '-', '-', '1234']);
  expect(csvOf('a', 'b', [line])).toBe(
    'from,to,tenant,namespace,cpuSeconds,cpuUsedSeconds,memoryGiBHours,memoryUsedGiBHours,storageGiBHours,runs,runSeconds,tokens\n' +
      'a,b,acme,acme,5400,360,1,0,0,0,0,1234\n',
  );
});
