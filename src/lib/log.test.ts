import { expect, test } from 'vitest';
import { FakeClock } from './clock-fake.ts';
import { createLog, errorText } from './log.ts';

function capture(options: Parameters<typeof createLog>[0] = {}): { lines: string[]; log: ReturnType<typeof createLog> } {
  const lines: string[] = [];
  return { lines, log: createLog({ clock: new FakeClock('2026-01-01T10:00:00Z'), write: (line) => lines.push(line), ...options }) };
}

test('json lines carry time, level, message and fields, with errors as text of the whole cause chain', () => {
  const { lines, log } = capture();
  log.with({ controller: 'gc' }).error('cannot sync', { error: new Error('outer', { cause: new Error('inner') }), count: 2n });
  expect(JSON.parse(lines[0])).toEqual({
    time: '2026-01-01T10:00:00.000Z',
    level: 'error',
    message: 'cannot sync',
    controller: 'gc',
    error: 'outer: inner',
    count: '2',
  });
});

test('lines below the level are not written', () => {
  const { lines, log } = capture({ level: 'warn' });
  log.info('quiet');
  log.warn('loud');
  expect(lines).toHaveLength(1);
  expect(log.enabled('debug')).toBe(false);
});

test('a field cannot replace the line’s own, and a circular value does not throw', () => {
  const { lines, log } = capture();
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  log.info('hello', { message: 'other', circular });
  expect(JSON.parse(lines[0])).toMatchObject({ message: 'hello', 'field.message': 'other', circular: '[object Object]' });
});

test('pretty lines quote only what needs it', () => {
  const { lines, log } = capture({ format: 'pretty' });
  log.info('ready', { url: 'https://127.0.0.1:6443', note: 'two words', none: undefined });
  expect(lines[0]).toBe('10:00:00.000 INFO  ready url=https://127.0.0.1:6443 note="two words"\n');
});

test('errorText names an error without a message', () => {
  expect(errorText(new TypeError(''))).toBe('TypeError');
  expect(errorText('plain')).toBe('plain');
});
