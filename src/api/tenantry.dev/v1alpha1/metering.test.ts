import { expect, test } from 'vitest';
import { addRow, compacted, OTHER_NAMESPACES, readRows, sum, writeRows, type UsageRows } from './metering.ts';

const NOW = Date.parse('2026-03-10T12:30:00Z');

test('rows are read as they were written, to a millionth', () => {
  const rows: UsageRows = new Map();
  addRow(rows, '2026-03-10T11', 'acme', { cpuSeconds: 1.23456789, runs: 2 });
  addRow(rows, '2026-03-01', 'acme--dev', { storageGiBHours: 3 });
  const data = writeRows(rows);
  expect(data).toEqual({ '2026-03-10T11': '{"acme":[1.234568,0,0,0,0,2]}', '2026-03-01': '{"acme--dev":[0,0,0,0,3]}' });
  expect(readRows(data).get('2026-03-10T11')?.get('acme')).toEqual({ cpuSeconds: 1.234568, runs: 2 });
});

test('what is not a period is not read', () => {
  expect(readRows({ note: 'by hand', '2026-03-01': '{}' }).size).toBe(1);
  expect(readRows(undefined).size).toBe(0);
});

test('hours of more than two days ago become days', () => {
  const rows: UsageRows = new Map();
  for (const hour of ['2026-03-07T01', '2026-03-07T23', '2026-03-08T13', '2026-03-10T12']) addRow(rows, hour, 'acme', { runs: 1 });
  addRow(rows, '2026-03-07', 'acme', { runs: 5 });
  expect(writeRows(compacted(rows, NOW))).toEqual({
    '2026-03-07': '{"acme":[0,0,0,0,0,7]}',
    '2026-03-08T13': '{"acme":[0,0,0,0,0,1]}',
    '2026-03-10T12': '{"acme":[0,0,0,0,0,1]}',
  });
});

test('more namespaces than a record holds share a row', () => {
  const rows: UsageRows = new Map();
  for (let index = 0; index < 150; index++) addRow(rows, '2026-03-10T12', `acme--${index}`, { runs: 1 });
  expect(rows.get('2026-03-10T12')?.size).toBe(101);
  expect(rows.get('2026-03-10T12')?.get(OTHER_NAMESPACES)).toEqual({ runs: 50 });
});

test('nothing plus something is something', () => {
  expect(sum({}, { tokens: 3 })).toEqual({ tokens: 3 });
  expect(sum({ tokens: 3, runs: 1 }, { tokens: 4 })).toEqual({ tokens: 7, runs: 1 });
});
