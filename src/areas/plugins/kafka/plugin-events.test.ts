import { beforeEach, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import type { EventBroker } from './event-broker.ts';
import { brokerDifference, iterationsFor, type BrokerChanges, type BrokerState } from './model/broker-difference.ts';
import { principalOf, ruleKey } from './model/broker-rules.ts';
import { OVERLAP_MS, ROTATE_AFTER_MS } from './model/broker-credentials.ts';
import { brokerSettings } from './model/broker-settings.ts';
import { PluginEvents, type EventsOf } from './plugin-events.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const [A, B] = ['plugin_hello_school_a', 'plugin_hello_school_b'];

/** A broker in memory, which can be made to fail once. */
class FakeBroker implements Pick<EventBroker, 'settings' | 'compare' | 'apply'> {
  readonly settings = brokerSettings({ 'kafka-bootstrap-servers': 'kafka:9092' })!;
  readonly passwords = new Map<string, string>();
  readonly topics: BrokerState['topics'] = new Map();
  readonly #rules = new Map<string, Map<string, never>>();
  asked = 0;
  failing: 'compare' | 'apply' | undefined;

  compare(wanted: Parameters<EventBroker['compare']>[0]): Promise<BrokerChanges[]> {
    this.asked++;
    this.#failIf('compare');
    const iterations = new Map([...this.passwords].map(([user, password]) => [user, iterationsFor(password)]));
    const rules = new Map([...this.#rules].map(([principal, own]) => [principal, [...own.values()]]));
    const quotas = new Map([...this.passwords.keys()].map((user) => [user, this.settings.quotas]));
    return Promise.resolve(wanted.map((each) => brokerDifference(each, { topics: this.topics, iterations, rules, quotas })));
  }

  apply({ createTopics, setPasswords, removePasswords, createRules, deleteRules }: BrokerChanges): Promise<void> {
    this.#failIf('apply');
    for (const { name, partitions, configs } of createTopics)
      (this.topics as Map<string, unknown>).set(name, { partitions, configs: new Map(Object.entries(configs)) });
    for (const { user, password } of setPasswords) this.passwords.set(user, password);
    for (const user of removePasswords) this.passwords.delete(user);
    for (const rule of createRules)
      this.#rules.set(rule.principal, new Map([...(this.#rules.get(rule.principal) ?? []), [ruleKey(rule), rule as never]]));
    for (const rule of deleteRules) this.#rules.get(rule.principal)?.delete(ruleKey(rule));
    return Promise.resolve();
  }

  rulesOf(user: string): number {
    return this.#rules.get(principalOf(user))?.size ?? 0;
  }

  #failIf(method: string): void {
    if (this.failing !== method) return;
    this.failing = undefined;
    throw new Error('the broker is away');
  }
}

describe('PluginEvents', () => {
  let broker: FakeBroker;
  /** What is stored, and what a cache shows of it. */
  let secret: KubeObject | undefined;
  let isCacheBehind: boolean;
  let events: PluginEvents;

  const objects = {
    find: () => (isCacheBehind ? undefined : secret),
    keep: (_kind: unknown, _namespace: string, _part: string, [wanted]: KubeObject[]) => {
      secret = wanted;
      return Promise.resolve();
    },
  };
  const restarted = () => new PluginEvents(objects as never);
  beforeEach(() => {
    broker = new FakeBroker();
    secret = undefined;
    isCacheBehind = false;
    events = restarted();
  });

  const of = ({ isSuspended = false, rotate = '' } = {}): EventsOf => {
    const manifest = { spec: { events: { consumes: ['course.published.v1'] } } };
    const target = { tenant: 'school', plugin: 'hello', publisher: 'acme', namespace: 'ns', isSuspended, manifest } as never;
    const annotations = rotate === '' ? {} : { 'plugins.tenantry.dev/rotate': rotate };
    return { installation: { metadata: { annotations } } as never, target, versions: [target] };
  };
  const ensure = (now = NOW, options = {}) => events.ensure(of(options), broker as never, now);
  const read = (name: string) => Buffer.from((secret!.data as Record<string, string>)[name], 'base64').toString();

  test('write the password that the broker has, and ask nothing when nothing changed', async () => {
    await ensure();
    expect(broker.passwords).toEqual(new Map([[A, read('password')]]));
    expect([...broker.topics.keys()]).toEqual(['school.course.published.v1', 'school._dlq.hello.course.published.v1']);
    await ensure(NOW + 1000);
    expect(broker.asked).toBe(1);
  });

  test.each(['compare', 'apply'] as const)('go on after a crash in %s with the password that was written down', async (failing) => {
    broker.failing = failing;
    await expect(ensure()).rejects.toThrow('the broker is away');
    const written = read('password');
    events = restarted();
    await ensure();
    expect(broker.passwords).toEqual(new Map([[A, written]]));
    expect(read('password')).toBe(written);
  });

  test('make no second password while a cache is behind', async () => {
    isCacheBehind = true;
    await ensure();
    const first = read('password');
    await ensure(NOW + 1000);
    expect(read('password')).toBe(first);
  });

  test('write nothing to the broker after a restart', async () => {
    await ensure();
    const before = new Map(broker.passwords);
    events = restarted();
    broker.failing = 'apply';
    await ensure(NOW + 1000);
    expect([broker.passwords, broker.asked]).toEqual([before, 2]);
  });

  test('rotate with both users good, and end the first when its time is over', async () => {
    await ensure();
    const first = read('password');
    const rotated = NOW + ROTATE_AFTER_MS;
    await ensure(rotated);
    expect(read('user')).toBe(B);
    expect(broker.passwords).toEqual(
      new Map([
        [A, first],
        [B, read('password')],
      ]),
    );
    expect([broker.rulesOf(A), broker.rulesOf(B)]).toEqual([9, 9]);
    const second = read('password');
    expect(await events.drifted([of()], broker as never, rotated + OVERLAP_MS - 1)).toEqual([]);
    // Then it is time for the next, which takes the place of the first.
    await ensure(rotated + OVERLAP_MS);
    expect(read('user')).toBe(A);
    expect(broker.passwords).toEqual(
      new Map([
        [A, read('password')],
        [B, second],
      ]),
    );
    expect(read('password')).not.toBe(first);
  });

  test('leave a password that nobody was told unused when a rotation is cut short', async () => {
    await ensure();
    const first = read('password');
    broker.failing = 'apply';
    await expect(ensure(NOW + 1000, { rotate: 'now' })).rejects.toThrow('the broker is away');
    expect(read('password')).toBe(first);
    events = restarted();
    await ensure(NOW + 2000, { rotate: 'now' });
    expect(broker.passwords.get(B)).toBe(read('password'));
    await ensure(NOW + 3000, { rotate: 'now' });
    expect(read('user')).toBe(B);
  });

  test('find what somebody changed at the broker, and put it right', async () => {
    await ensure();
    expect(await events.drifted([of()], broker as never, NOW)).toEqual([]);
    broker.passwords.set(A, 'somebody else’s');
    expect(await events.drifted([of()], broker as never, NOW)).toHaveLength(1);
    await ensure();
    expect(broker.passwords.get(A)).toBe(read('password'));
  });

  test('take everything but the topics from who is suspended, and give it back', async () => {
    await ensure();
    const password = read('password');
    await ensure(NOW + 1, { isSuspended: true });
    expect([broker.passwords.size, broker.rulesOf(A), broker.topics.size]).toEqual([0, 0, 2]);
    await ensure(NOW + 2);
    expect(broker.passwords).toEqual(new Map([[A, password]]));
  });
});
