import { expect, test } from 'vitest';
import { accessWith, nextCredentials, OVERLAP_MS, ROTATE_AFTER_MS, type BrokerCredentials } from './broker-credentials.ts';

const NOW = 1_000_000_000;
const first: BrokerCredentials = { slot: 'a', password: 'one', since: NOW, otherUntil: 0, request: '' };
const second: BrokerCredentials = {
  slot: 'b',
  password: 'two',
  since: NOW + ROTATE_AFTER_MS,
  otherUntil: NOW + ROTATE_AFTER_MS + OVERLAP_MS,
  request: '',
};

test.each<[string, BrokerCredentials | undefined, { now: number; request: string }, BrokerCredentials]>([
  ['are made when there are none', undefined, { now: NOW, request: '' }, { ...first, password: 'new' }],
  ['stay as they are', first, { now: NOW + ROTATE_AFTER_MS - 1, request: '' }, first],
  ['are of the other user when it is time', first, { now: second.since, request: '' }, { ...second, password: 'new' }],
  [
    'are of the first user again the time after',
    second,
    { now: second.since + ROTATE_AFTER_MS, request: '' },
    {
      slot: 'a',
      password: 'new',
      since: second.since + ROTATE_AFTER_MS,
      otherUntil: second.since + ROTATE_AFTER_MS + OVERLAP_MS,
      request: '',
    },
  ],
  [
    'are others when somebody asks',
    first,
    { now: NOW + 1, request: 'leaked' },
    { slot: 'b', password: 'new', since: NOW + 1, otherUntil: NOW + 1 + OVERLAP_MS, request: 'leaked' },
  ],
])('credentials %s', (_, present, facts, expected) => {
  expect(nextCredentials(present, facts, () => 'new')).toEqual(expected);
});

test('accessWith keeps the user before for a while, and no longer', () => {
  const access = (now: number) => ['a', 'b'].map((slot) => accessWith(second, 'school', 'hello', now)(`plugin_hello_school_${slot}`));
  expect(access(second.otherUntil - 1)).toEqual(['kept', { password: 'two' }]);
  expect(access(second.otherUntil)).toEqual(['none', { password: 'two' }]);
});
