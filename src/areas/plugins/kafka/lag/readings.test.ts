import { describe, expect, test } from 'vitest';
import { NO_GROUP } from './partition-lag.ts';
import { readingsOf } from './readings.ts';

const question = { tenant: 'school', plugin: 'hello', topics: ['school.a.b.v1'], groupPrefix: 'school.hello.', since: 0 };
const view = { topics: new Map([['school.a.b.v1', [1, 1]]]) };
const shown = (groups: string[], committed: [string, bigint][]) =>
  readingsOf([question], view, groups, new Map(committed)).map(({ group, partition, committed: at }) => [group, partition, at]);

describe('readingsOf', () => {
  test('expect nobody by name where no group ever confirmed anything', () => {
    expect(shown([], [])).toEqual([
      [NO_GROUP, 0, undefined],
      [NO_GROUP, 1, undefined],
    ]);
    expect(shown(['school.hello.main'], [['school.hello.main school.other.v1/0', 5n]])[0]).toEqual([NO_GROUP, 0, undefined]);
  });
  test('expect a group to read all partitions of a topic once it read one', () => {
    expect(shown(['school.hello.main', 'school.hello2.main'], [['school.hello.main school.a.b.v1/0', 5n]])).toEqual([
      ['school.hello.main', 0, 5n],
      ['school.hello.main', 1, undefined],
    ]);
  });
  test('are none for a topic that is not there', () => {
    expect(readingsOf([{ ...question, topics: ['school.gone.v1'] }], view, [], new Map())).toEqual([]);
  });
});
