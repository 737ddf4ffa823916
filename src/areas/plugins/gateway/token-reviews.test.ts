import { beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { TokenReviews, type User } from './token-reviews.ts';

let clock: FakeClock;
let asked: string[];
let isDown: boolean;
let reviews: TokenReviews;
beforeEach(() => {
  clock = new FakeClock();
  asked = [];
  isDown = false;
  const review = (token: string): Promise<User | undefined> => {
    if (isDown) return Promise.reject(new Error('down'));
    asked.push(token);
    return Promise.resolve(token.startsWith('good') ? { type: 'user', name: token, groups: [] } : undefined);
  };
  reviews = new TokenReviews(review, clock);
});

const flood = async (count: number, address = '192.0.2.1'): Promise<number> => {
  let limited = 0;
  for (let i = 0; i < count; i++) await reviews.userOf(`made-up-${i}`, address).catch(() => limited++);
  return limited;
};

test('a token is asked about once in a while, whether it is somebody’s or not', async () => {
  for (let i = 0; i < 3; i++) {
    expect(await reviews.userOf('good', 'a')).toMatchObject({ name: 'good' });
    expect(await reviews.userOf('bad', 'a')).toBeUndefined();
  }
  expect(asked).toEqual(['good', 'bad']);
  await clock.advance(10_001);
  await reviews.userOf('good', 'a');
  expect(asked).toEqual(['good', 'bad', 'good']);
});

test('an address that makes tokens up is not listened to for long', async () => {
  expect(await flood(1_000)).toBe(940);
  expect(asked).toHaveLength(60);
  await expect(reviews.userOf('good-new', '192.0.2.1')).rejects.toMatchObject({ status: 429 });
  expect(await reviews.userOf('good', '192.0.2.2')).toMatchObject({ name: 'good' });
  await clock.advance(120_000);
  expect(await reviews.userOf('good-new', '192.0.2.1')).toMatchObject({ name: 'good-new' });
});

test('who was known before is not held up by those of the same address', async () => {
  await reviews.userOf('good', '192.0.2.1');
  await clock.advance(20_000);
  await flood(100);
  expect(await reviews.userOf('good', '192.0.2.1')).toMatchObject({ name: 'good' });
});

test('an API server that is down is nobody’s failure', async () => {
  isDown = true;
  expect(await flood(100)).toBe(100);
  isDown = false;
  expect(await reviews.userOf('good', '192.0.2.1')).toBeDefined();
});

test('tokens of somebody are no failures of their address', async () => {
  for (let i = 0; i < 500; i++) expect(await reviews.userOf(`good-${i}`, 'a')).toBeDefined();
});
