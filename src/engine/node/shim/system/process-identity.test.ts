import { describe, expect, it } from 'vitest';
import { identify, isAlive, parseStatus } from './process-identity.ts';

describe('parseStatus', () => {
  it('parseStatus counts fields behind the name, whatever is in it', () => {
    const text = '4242 (a) R (b c) S 17 4242 4200 0 -1 4194304 10 0 0 0 5 6 0 0 20 0 1 0 987654 1000 20';
    expect(parseStatus(text)).toEqual({ pid: 4242, state: 'S', parent: 17, session: 4200, startTime: '987654' });
  });
});

describe('isAlive', () => {
  it('isAlive holds for a process that runs', () => {
    expect(isAlive(identify(process.pid))).toBe(true);
  });

  it.each([
    ['another process has its number', { startTime: '1' }],
    ['the machine was started again', { bootId: 'another' }],
  ])('isAlive does not hold when %s', (_name, difference) => {
    expect(isAlive({ ...identify(process.pid), ...difference })).toBe(false);
  });
});
