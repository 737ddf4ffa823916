import { describe, expect, test } from 'vitest';
import { brokerDifference, isUnchanged, iterationsFor, type BrokerState } from './broker-difference.ts';
import { Operation, principalOf, type BrokerRule } from './broker-rules.ts';
import { userOf } from './event-names.ts';
import { eventTypesOf, wantedEvents, withdrawn, type UserPassword, type WantedEvents } from './wanted-events.ts';

const SETTINGS = {
  partitions: 3,
  retentionMs: 1000,
  deadLetterRetentionMs: 2000,
  quotas: { producer_byte_rate: 10, request_percentage: 5 },
};
const [A, B] = [userOf('school', 'hello', 'a'), userOf('school', 'hello', 'b')];
const manifest = (events: object) => ({ spec: { events } }) as never;
const TYPES = eventTypesOf([manifest({ consumes: ['course.published.v1'], produces: ['course.recommended.v1'] })]);

function wanted(access: Record<string, UserPassword> = { [A]: { password: 'one' } }, types = TYPES): WantedEvents {
  return wantedEvents({ tenant: 'school', plugin: 'hello' }, types, (user) => access[user] ?? 'none', SETTINGS);
}

/** A broker that holds exactly this. */
function holding({ topics, users }: WantedEvents): BrokerState {
  const own = users.filter(({ access }) => access !== 'none');
  return {
    topics: new Map(topics.map(({ name, partitions, configs }) => [name, { partitions, configs: new Map(Object.entries(configs)) }])),
    iterations: new Map(own.map(({ name, access }) => [name, typeof access === 'object' ? iterationsFor(access.password) : 5000])),
    rules: new Map(own.map(({ name, rules }) => [principalOf(name), rules])),
    quotas: new Map(own.map(({ name, quotas }) => [name, quotas])),
  };
}
const EMPTY: BrokerState = { topics: new Map(), iterations: new Map(), rules: new Map(), quotas: new Map() };

describe('wantedEvents', () => {
  test('are the topics of the manifest, and those for what fails', () => {
    expect(wanted().topics.map(({ name, partitions }) => [name, partitions])).toEqual([
      ['school.course.published.v1', 3],
      ['school.course.recommended.v1', 3],
      ['school._dlq.hello.course.published.v1', 1],
    ]);
    const none = eventTypesOf([manifest({ consumes: ['course.published.v1'], dlqStrategy: 'none' })]);
    expect(wanted({}, none).topics.map(({ name }) => name)).toEqual(['school.course.published.v1']);
  });

  test('let read, write and describe, and nothing else', () => {
    const { rules } = wanted().users[0];
    const shown = rules.map(({ resourceName, operation }) => `${resourceName} ${operation}`);
    expect(shown).toEqual([
      `school.course.published.v1 ${Operation.read}`,
      `school.course.published.v1 ${Operation.describe}`,
      `school.course.recommended.v1 ${Operation.write}`,
      `school.course.recommended.v1 ${Operation.describe}`,
      `school.hello. ${Operation.write}`,
      `school.hello. ${Operation.describe}`,
      `school.hello. ${Operation.read}`,
      `school.hello. ${Operation.describe}`,
      `school._dlq.hello. ${Operation.read}`,
      `school._dlq.hello. ${Operation.write}`,
      `school._dlq.hello. ${Operation.describe}`,
    ]);
  });

  test('are those of both versions while one replaces the other', () => {
    const both = eventTypesOf([manifest({ consumes: ['a.b.v1'] }), manifest({ consumes: ['a.b.v2'], produces: ['a.b.v1'] })]);
    expect(both).toEqual({ consumes: ['a.b.v1', 'a.b.v2'], produces: ['a.b.v1'], deadLetters: ['a.b.v1', 'a.b.v2'] });
  });
});

describe('brokerDifference', () => {
  test('is everything for a broker that has nothing', () => {
    const changes = brokerDifference(wanted(), EMPTY);
    expect(changes.createTopics).toHaveLength(3);
    expect(changes.setPasswords).toEqual([{ user: A, password: 'one' }]);
    expect(changes.createRules).toHaveLength(11);
    expect(changes.setQuotas).toEqual([{ user: A, quotas: SETTINGS.quotas }]);
    expect(changes.removePasswords).toEqual([]);
  });

  test('is nothing for a broker that has it', () => {
    expect(isUnchanged(brokerDifference(wanted(), holding(wanted())))).toBe(true);
    const both = wanted({ [A]: 'kept', [B]: { password: 'two' } });
    expect(isUnchanged(brokerDifference(both, holding(both)))).toBe(true);
  });

  const right = holding(wanted());
  const rules = right.rules.get(principalOf(A))!;
  const foreign: BrokerRule = { ...rules[0], resourceName: 'rival.course.published.v1' };
  test.each<[string, Partial<BrokerState>, object]>([
    ['a password that somebody else set', { iterations: new Map([[A, 4096]]) }, { setPasswords: [{ user: A, password: 'one' }] }],
    ['a user without one', { iterations: new Map() }, { setPasswords: [{ user: A, password: 'one' }] }],
    ['a rule that is missing', { rules: new Map([[principalOf(A), rules.slice(1)]]) }, { createRules: [rules[0]] }],
    ['a rule too many', { rules: new Map([[principalOf(A), [...rules, foreign]]]) }, { deleteRules: [foreign] }],
    [
      'rules of the user that it is not now',
      { rules: new Map([...right.rules, [principalOf(B), [{ ...foreign, principal: principalOf(B) }]]]) },
      { deleteRules: [{ ...foreign, principal: principalOf(B) }] },
    ],
    [
      'a quota that was raised',
      { quotas: new Map([[A, { ...SETTINGS.quotas, producer_byte_rate: 11 }]]) },
      { setQuotas: [{ user: A, quotas: { producer_byte_rate: 10 } }] },
    ],
    [
      'a quota that nobody asked for',
      { quotas: new Map([[A, { ...SETTINGS.quotas, consumer_byte_rate: 1 }]]) },
      { setQuotas: [{ user: A, quotas: { consumer_byte_rate: undefined } }] },
    ],
    [
      'a topic with fewer partitions, and another retention',
      {
        topics: new Map([
          ...right.topics,
          [
            'school.course.published.v1',
            { partitions: 1, configs: new Map([...right.topics.get('school.course.published.v1')!.configs, ['retention.ms', '9']]) },
          ],
        ]),
      },
      {
        addPartitions: [{ name: 'school.course.published.v1', count: 3 }],
        setConfigs: [{ name: 'school.course.published.v1', configs: { 'retention.ms': '1000' } }],
      },
    ],
  ])('repairs %s, and nothing else', (_, drift, expected) => {
    const changes = brokerDifference(wanted(), { ...right, ...drift });
    expect(Object.fromEntries(Object.entries(changes).filter(([, list]) => list.length > 0))).toEqual(expected);
  });

  test('leaves a topic with more partitions as it is', () => {
    const topics = new Map([...right.topics].map(([name, topic]) => [name, { ...topic, partitions: 12 }]));
    expect(isUnchanged(brokerDifference(wanted(), { ...right, topics }))).toBe(true);
  });

  test('takes everything from who is withdrawn, but its topics', () => {
    const changes = brokerDifference(withdrawn('school', 'hello'), right);
    expect(changes).toMatchObject({ removePasswords: [A], createTopics: [], setPasswords: [], createRules: [] });
    expect(changes.deleteRules).toHaveLength(rules.length);
    expect(changes.setQuotas).toEqual([{ user: A, quotas: { producer_byte_rate: undefined, request_percentage: undefined } }]);
  });
});
