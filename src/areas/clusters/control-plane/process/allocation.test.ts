import { expect, it } from 'vitest';
import { freePort, freeUser, PORTS, USERS } from './allocation.ts';

const record = (port: number, user?: number) => ({ namespace: 'acme', name: 'dev', port, user });

it('freePort gives every cluster of a folder another port, none that was refused, and undefined when all are gone', () => {
  const first = freePort('/a', [], new Set())!;
  const second = freePort('/a', [record(first)], new Set())!;
  const third = freePort('/a', [record(first)], new Set([second]))!;
  expect(new Set([first, second, third]).size).toBe(3);
  const all = Array.from({ length: PORTS.size }, (_, index) => record(PORTS.first + index));
  expect(freePort('/a', all.slice(1), new Set())).toBe(PORTS.first);
  expect(freePort('/a', all, new Set())).toBeUndefined();
});

it('freePort and freeUser begin elsewhere for another folder', () => {
  expect(freePort('/a', [], new Set())).not.toBe(freePort('/b', [], new Set()));
  expect(freeUser('/a', [])).not.toBe(freeUser('/b', []));
});

it('freeUser stays in its range and skips those that are taken', () => {
  const first = freeUser('/a', [record(1)])!;
  expect(first).toBeGreaterThanOrEqual(USERS.first);
  expect(first).toBeLessThan(USERS.first + USERS.size);
  expect(freeUser('/a', [record(1, first)])).not.toBe(first);
});
