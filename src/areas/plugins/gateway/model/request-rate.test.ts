import { expect, test } from 'vitest';
import { readRate, RequestRates } from './request-rate.ts';

test.each([
  ['60/minute', { limit: 60, windowMs: 60_000 }],
  ['5/second', { limit: 5, windowMs: 1_000 }],
  ['1/day', { limit: 1, windowMs: 86_400_000 }],
])('readRate reads %s', (text, expected) => expect(readRate(text)).toEqual(expected));

test('readRate refuses what is no rate', () => expect(() => readRate('0/minute')).toThrow('Cannot read the request rate "0/minute"'));

const RATE = { limit: 3, windowMs: 1_000 };

test('a request over the limit is told when there is room, and there is room then', () => {
  const rates = new RequestRates();
  for (let i = 0; i < 3; i++) expect(rates.take('a', RATE, 100)).toBe(0);
  const wait = rates.take('a', RATE, 100);
  expect(wait).toBeGreaterThan(1_000);
  expect(rates.take('a', RATE, 100 + wait - 50)).toBeGreaterThan(0);
  expect(rates.take('a', RATE, 100 + wait)).toBe(0);
});

test('a look counts nothing, and what is given back is free again', () => {
  const rates = new RequestRates();
  for (let i = 0; i < 9; i++) expect(rates.wait('a', RATE, 0)).toBe(0);
  for (let i = 0; i < 3; i++) expect(rates.take('a', RATE, 0)).toBe(0);
  expect(rates.wait('a', RATE, 0)).toBeGreaterThan(0);
  rates.giveBack('a');
  expect(rates.take('a', RATE, 0)).toBe(0);
  expect(rates.take('a', RATE, 0)).toBeGreaterThan(0);
});

test('keys are counted apart', () => {
  const rates = new RequestRates();
  for (let i = 0; i < 3; i++) rates.take('a', RATE, 0);
  expect(rates.take('b', RATE, 0)).toBe(0);
});

test('no second sees much more than the limit, at a flood', () => {
  const rates = new RequestRates();
  const passed: number[] = [];
  for (let now = 0; now < 10_000; now += 10) if (rates.take('a', { limit: 100, windowMs: 1_000 }, now) === 0) passed.push(now);
  for (let start = 0; start < 9_000; start += 50) {
    expect(passed.filter((at) => at >= start && at < start + 1_000).length).toBeLessThanOrEqual(101);
  }
  expect(passed.length).toBeGreaterThan(900);
});

test('a clock that is set back starts anew', () => {
  const rates = new RequestRates();
  for (let i = 0; i < 3; i++) rates.take('a', RATE, 5_000);
  expect(rates.take('a', RATE, 1_000)).toBe(0);
});
