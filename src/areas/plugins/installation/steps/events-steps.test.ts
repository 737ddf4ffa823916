import { describe, expect, test } from 'vitest';
import type { PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import type { Outcome } from '../../../../runtime/steps/outcome.ts';
import { brokerDifference } from '../../kafka/model/broker-difference.ts';
import { eventsReady } from './events-ready.step.ts';
import { eventsWithdrawn } from './events-withdrawn.step.ts';

const context = { signal: new AbortController().signal, now: () => 0 };
const EVENTS = { spec: { events: { consumes: ['course.published.v1'] } } };
const AWAY = () => Promise.reject(new Error('Cannot reach Kafka at kafka:9092: connect ECONNREFUSED'));

describe('eventsReady', () => {
  const run = async ({
    manifest = EVENTS as object,
    hasSecret = false,
    isClaimed = true,
    broker = (() => Promise.resolve({})) as () => Promise<unknown>,
  }) => {
    const done: string[] = [];
    const note = (what: string) => () => Promise.resolve(void done.push(what));
    const target = { tenant: 'school', plugin: 'hello', manifest };
    const events = { ensure: note('ensure'), withdraw: note('withdraw'), removeSecret: note('removeSecret'), hasSecret: () => hasSecret };
    const claimTenant = () => Promise.resolve(isClaimed);
    const step = eventsReady({ target: () => target, versions: () => [target], events, broker, claimTenant } as never);
    const { type, reason, message } = await step.run({} as never, context);
    return { type, reason, message, done };
  };
  const NONE = { spec: {} };

  test('is done without a broker when no events are declared', async () => {
    expect(await run({ manifest: NONE, broker: AWAY })).toMatchObject({ type: 'done', reason: 'NotNeeded', done: [] });
  });
  test('says what to configure when there is none', async () => {
    const { type, reason, message } = await run({ broker: () => Promise.resolve(undefined) });
    expect([type, reason]).toEqual(['waiting', 'EventsUnavailable']);
    expect(message).toContain('put host:port into kafka-bootstrap-servers');
  });
  test('waits for a broker that is away, and says which', async () => {
    const { type, reason, message } = await run({ broker: AWAY });
    expect([type, reason]).toEqual(['waiting', 'EventsUnavailable']);
    expect(message).toBe('Cannot set up the events of "hello": Cannot reach Kafka at kafka:9092: connect ECONNREFUSED; trying again');
  });
  test('does nothing while an earlier tenant of the name has something there', async () => {
    expect(await run({ isClaimed: false })).toMatchObject({ type: 'waiting', reason: 'EventsUnavailable', done: [] });
  });
  test('takes back what an earlier version had: first the rights, then the Secret', async () => {
    expect(await run({ manifest: NONE, hasSecret: true })).toMatchObject({
      type: 'done',
      reason: 'NotNeeded',
      done: ['withdraw', 'removeSecret'],
    });
  });
});

describe('eventsWithdrawn', () => {
  const changes = brokerDifference(
    { topics: [], users: [] },
    { topics: new Map(), iterations: new Map(), rules: new Map(), quotas: new Map() },
  );
  const run = async (options: {
    data?: 'Retain' | 'Delete';
    isTenantGoing?: boolean;
    namespace?: string | null;
    isAway?: boolean;
    manifests?: object[];
    isClaimed?: boolean;
  }) => {
    const { data, isTenantGoing = false, namespace = 'ns', isAway = false, manifests = [EVENTS], isClaimed = true } = options;
    const done: string[] = [];
    const broker = {
      compare: () => Promise.resolve([changes]),
      topics: () => Promise.resolve(['school.course.published.v1', 'school._dlq.hello.course.published.v1', 'rival.course.published.v1']),
      removeTopics: (names: string[]) => Promise.resolve(void done.push(...names)),
      removeGroups: (prefix: string) => Promise.resolve(void done.push(`${prefix}*`)),
    };
    const step = eventsWithdrawn({
      isTenantGoing: () => isTenantGoing,
      events: { withdraw: () => Promise.resolve(void done.push('withdraw')) },
      broker: isAway ? AWAY : () => Promise.resolve(broker as never),
      hasClaim: () => isClaimed,
      manifestsOf: () => manifests as never,
      namedByOthers: () => [],
    });
    const status = namespace === null ? {} : { namespace };
    const installation = { metadata: { namespace: 'school' }, spec: { plugin: 'hello', data }, status } as unknown as PluginInstallation;
    const { type, reason }: Outcome = await step.run(installation, context);
    return [type, reason, done] as const;
  };
  const OWN = ['school.course.published.v1', 'school._dlq.hello.course.published.v1'];

  test.each<[string, Parameters<typeof run>[0], Awaited<ReturnType<typeof run>>]>([
    ['keeps its topics', {}, ['done', 'Retained', ['withdraw']]],
    ['takes them with its data', { data: 'Delete' }, ['done', 'Done', ['withdraw', ...OWN, 'school.hello.*']]],
    ['leaves its topics to the tenant that goes', { isTenantGoing: true, data: 'Delete' }, ['done', 'Retained', ['withdraw']]],
    ['touches nothing of a plugin that never had its namespace', { namespace: null, data: 'Delete' }, ['done', 'NotNeeded', []]],
    ['asks no broker for a plugin without events', { manifests: [], isAway: true }, ['done', 'NotNeeded', []]],
    ['asks no broker for a tenant that never had one', { isClaimed: false, isAway: true }, ['done', 'NotNeeded', []]],
    ['waits for a broker that is away', { isAway: true }, ['waiting', 'EventsUnavailable', []]],
  ])('%s', async (_, options, expected) => {
    expect(await run(options)).toEqual(expected);
  });
});
