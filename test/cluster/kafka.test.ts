import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { brokerInThread } from '../../src/areas/plugins/kafka/broker-thread.ts';
import { KafkaBroker } from '../../src/areas/plugins/kafka/kafka-broker.ts';
import { PrometheusRuleKind } from '../../src/areas/plugins/kafka/lag/lag-alert-rule.ts';
import { brokerSettings } from '../../src/areas/plugins/kafka/model/broker-settings.ts';
import { brokerDifference } from '../../src/areas/plugins/kafka/model/broker-difference.ts';
import { clientPrefixOf, usersOf } from '../../src/areas/plugins/kafka/model/event-names.ts';
import { withdrawn } from '../../src/areas/plugins/kafka/model/wanted-events.ts';
import { CrossTenantAttemptKind } from '../../src/api/plugins.tenantry.dev/v1alpha1/cross-tenant-attempt.ts';
import { PluginInstallationKind } from '../../src/api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { TenantKind } from '../../src/api/tenantry.dev/v1alpha1/tenant.ts';
import { ConfigMap, Deployment, NetworkPolicy, Secret } from '../../src/client/kinds.ts';
import { findCondition } from '../../src/kube/conditions.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { realClock } from '../../src/lib/clock.ts';
import { registriesPath } from '../../src/main/registries-file.ts';
import { PluginWorld } from '../integration/plugins/plugin-world.ts';
import { ownCustomResourceDefinitions } from '../support/custom-resource-definitions.ts';
import { startEmbeddedTarget, type EmbeddedTarget } from '../support/embedded-target.ts';
import { KafkaActor, type Login } from './kafka-actor.ts';
import { KAFKA_ADMIN, KafkaServer } from './kafka-server.ts';

const PUBLISHED = 'school.course.published.v1';
const RECOMMENDED = 'school.course.recommended.v1';
const DEAD_LETTERS = 'school._dlq.hello.course.published.v1';
/** What of a broker is not as it should be is seen by a look every half minute. */
const UPKEEP = { timeout: 100_000, interval: 250 };

describe('plugins at a real Kafka', { timeout: 180_000 }, () => {
  let kafka: KafkaServer;
  let target: EmbeddedTarget;
  let world: PluginWorld;
  let broker: KafkaBroker;
  let admin: KafkaActor;
  const actors: KafkaActor[] = [];
  beforeAll(async () => {
    [kafka, target] = await Promise.all([KafkaServer.start(), startEmbeddedTarget(ownCustomResourceDefinitions)]);
    mkdirSync(dirname(registriesPath(target.data)), { recursive: true });
    world = await PluginWorld.over(target, registriesPath(target.data));
    const entries = { 'kafka-bootstrap-servers': kafka.address, 'kafka-user': KAFKA_ADMIN.user, 'kafka-password': KAFKA_ADMIN.password };
    broker = new KafkaBroker(brokerSettings(entries)!, realClock);
    admin = actor(KAFKA_ADMIN);
    await world.tenants.definition(PrometheusRuleKind);
    await world.publisher('acme', 'acme');
    await Promise.all(['school', 'rival'].map((tenant) => world.tenants.tenant(tenant)));
    const events = { consumes: ['course.published.v1'], produces: ['course.recommended.v1'] };
    await world.version('acme', 'hello', '1.0.0', { events });
    await world.version('acme', 'hello', '1.1.0', { events: { ...events, produces: ['course.recommended.v1', 'course.rated.v1'] } });
    await world.version('acme', 'other', '1.0.0', { events: { consumes: ['grade.given.v1'], produces: ['course.published.v1'] } });
    await world.version('acme', 'quiet', '1.0.0');
  });
  afterAll(async () => {
    await Promise.all(actors.map((each) => each.close()));
    await broker?.close();
    await world?.stop();
    await kafka?.stop();
  });

  function actor(login: Login): KafkaActor {
    const made = new KafkaActor(kafka.address, login);
    actors.push(made);
    return made;
  }

  const condition = async (tenant: string, name: string) =>
    findCondition((await world.get(tenant, name)).status?.conditions, 'EventsReady');
  const ready = (tenant: string, name: string) =>
    vi.waitUntil(async () => {
      const found = await condition(tenant, name);
      return found?.status === 'True' && found;
    }, UPKEEP);

  async function access(namespace: string): Promise<Record<string, string>> {
    const { data } = await world.client.resource<KubeObject>(Secret, namespace).get('plugin-events');
    return Object.fromEntries(
      Object.entries(data as Record<string, string>).map(([name, value]) => [name, Buffer.from(value, 'base64').toString()]),
    );
  }
  const loginOf = async (namespace: string): Promise<Login> => {
    const { user, password } = await access(namespace);
    return { user, password };
  };

  it('say what to configure where they need one, and nothing where they do not', async () => {
    await Promise.all([world.install('school', 'hello', { version: '1.0.0' }), world.install('school', 'quiet', { version: '1.0.0' })]);
    const missing = await vi.waitUntil(async () => {
      const found = await condition('school', 'hello');
      return found?.reason === 'EventsUnavailable' && found;
    }, UPKEEP);
    expect(missing.message).toContain('put host:port into kafka-bootstrap-servers');
    expect(await ready('school', 'quiet')).toMatchObject({ reason: 'NotNeeded' });
  });

  it('have their topics, and the way to them, once there is one', async () => {
    const stringData = {
      'kafka-bootstrap-servers': kafka.address,
      'kafka-user': KAFKA_ADMIN.user,
      'kafka-password': KAFKA_ADMIN.password,
      'kafka-partitions': '2',
      'kafka-authorizer-log': kafka.log,
    };
    await world.client.resource<KubeObject>(Secret, 'tenantry-system').create({ metadata: { name: 'plugin-platform' }, stringData });
    await Promise.all([world.install('school', 'other', { version: '1.0.0' }), world.install('rival', 'hello', { version: '1.0.0' })]);
    await Promise.all([ready('school', 'hello'), ready('school', 'other'), ready('rival', 'hello')]);
    expect((await broker.topics()).sort()).toEqual([
      'rival._dlq.hello.course.published.v1',
      'rival.course.published.v1',
      'rival.course.recommended.v1',
      DEAD_LETTERS,
      'school._dlq.other.grade.given.v1',
      PUBLISHED,
      RECOMMENDED,
      'school.grade.given.v1',
    ]);
    expect(await access('plugin-school-hello')).toMatchObject({
      'bootstrap-servers': kafka.address,
      'security-protocol': 'SASL_PLAINTEXT',
      mechanism: 'SCRAM-SHA-512',
      user: 'plugin_hello_school_a',
      'topic-prefix': 'school.',
      'group-prefix': 'school.hello.',
      'transactional-id-prefix': 'school.hello.',
      'dead-letter-prefix': 'school._dlq.hello.',
    });
    const deployment = await vi.waitUntil(
      () => world.tenants.find(() => world.client.resource<KubeObject>(Deployment, 'plugin-school-hello').get('plugin-1-0-0')),
      UPKEEP,
    );
    expect(deployment.spec.template.spec.containers[0].volumeMounts).toContainEqual({
      name: 'events',
      mountPath: '/var/run/secrets/tenantry.dev/events',
      readOnly: true,
    });
    const policy = (namespace: string) => world.client.resource<KubeObject>(NetworkPolicy, namespace).get('plugin-egress');
    const toBroker = { to: [{ ipBlock: { cidr: '127.0.0.1/32' } }], ports: [{ protocol: 'TCP', port: kafka.port }] };
    expect((await policy('plugin-school-hello')).spec.egress).toContainEqual(toBroker);
    expect((await policy('plugin-school-quiet')).spec.egress).not.toContainEqual(toBroker);
  });

  it('read and write their own', async () => {
    const [hello, other] = [actor(await loginOf('plugin-school-hello')), actor(await loginOf('plugin-school-other'))];
    const allowed = await Promise.all([
      other.write(PUBLISHED),
      hello.read(PUBLISHED),
      hello.write(RECOMMENDED),
      hello.write(DEAD_LETTERS),
      hello.read(DEAD_LETTERS),
      hello.commit('school.hello.main', PUBLISHED),
      hello.beginTransaction('school.hello.tx'),
    ]);
    expect(allowed).toEqual(allowed.map(() => 'allowed'));
    expect(['allowed', 'MEMBER_ID_REQUIRED']).toContain(await hello.join('school.hello.main'));
  });

  describe('refuse a plugin', () => {
    let hello: KafkaActor;
    let user: string;
    beforeAll(async () => {
      const login = await loginOf('plugin-school-hello');
      hello = actor(login);
      ({ user } = login);
    });

    const topics = [
      'school.grade.given.v1',
      'school._dlq.other.grade.given.v1',
      'rival.course.published.v1',
      'rival.course.recommended.v1',
      'rival._dlq.hello.course.published.v1',
    ];
    it.each(topics)('the topic %s, whatever it does with it', async (topic) => {
      const tried = await Promise.all([
        hello.read(topic),
        hello.write(topic),
        hello.describe(topic),
        hello.deleteTopic(topic),
        hello.setRetention(topic, '1'),
      ]);
      expect(tried).toEqual(tried.map(() => 'TOPIC_AUTHORIZATION_FAILED'));
    });

    it.each(['school.other.main', 'rival.hello.main', 'school.hello2.main', 'main'])(
      'the group %s, whatever it does with it',
      async (group) => {
        const tried = await Promise.all([
          hello.join(group),
          hello.commit(group, PUBLISHED),
          hello.offsets(group),
          hello.deleteGroup(group),
        ]);
        expect(tried).toEqual(tried.map(() => 'GROUP_AUTHORIZATION_FAILED'));
      },
    );

    it.each(['school.other.tx', 'rival.hello.tx', 'tx'])('the transactional id %s', async (id) => {
      expect(await hello.beginTransaction(id)).toBe('TRANSACTIONAL_ID_AUTHORIZATION_FAILED');
    });

    it('what it may only do one way', async () => {
      expect([await hello.write(PUBLISHED), await hello.read(RECOMMENDED)]).toEqual([
        'TOPIC_AUTHORIZATION_FAILED',
        'TOPIC_AUTHORIZATION_FAILED',
      ]);
    });

    it('to make, change or remove anything, its own included', async () => {
      expect(
        await Promise.all([
          hello.createTopic('school.hello.extra.v1'),
          hello.deleteTopic(PUBLISHED),
          hello.setRetention(PUBLISHED, '1'),
          hello.allowReading(user, 'rival.course.published.v1'),
          hello.listRights(),
          hello.setPassword(user, 'mine'),
          hello.setPassword('plugin_other_school_a', 'mine'),
          hello.setQuota(user, 1e9),
        ]),
      ).toEqual([
        'TOPIC_AUTHORIZATION_FAILED',
        'TOPIC_AUTHORIZATION_FAILED',
        'TOPIC_AUTHORIZATION_FAILED',
        ...Array.from({ length: 5 }, () => 'CLUSTER_AUTHORIZATION_FAILED'),
      ]);
    });
  });

  it('are told on for what they tried elsewhere', async () => {
    const expected = [
      'hello kafka topic rival.course.published.v1 kafka:acl:read',
      'hello kafka topic school.grade.given.v1 kafka:acl:describe',
      'hello kafka topic school._dlq.other.grade.given.v1 kafka:acl:delete',
      'hello kafka group rival.hello.main kafka:acl:read',
      'hello kafka transactionalid rival.hello.tx kafka:acl:write',
      'hello kafka cluster kafka-cluster kafka:acl:alter',
    ];
    await vi.waitUntil(async () => {
      const { items } = await world.client.resource(CrossTenantAttemptKind, 'school').list();
      const told = items.map(({ spec }) => `${spec.plugin} ${spec.kind} ${spec.target} ${spec.rule}`);
      return expected.every((each) => told.includes(each));
    }, UPKEEP);
    expect(String((await target.request('GET', '/metrics')).body)).toContain(
      'tenantry_cross_tenant_attempts_total{tenant="school",plugin="hello",kind="kafka"',
    );
  });

  it('have the alert kept where Prometheus’ operator is', async () => {
    const rule = await vi.waitUntil(
      () =>
        world.tenants.find(() => world.client.resource<KubeObject>(PrometheusRuleKind, 'tenantry-system').get('tenantry-plugin-events')),
      UPKEEP,
    );
    expect(rule.spec.groups[0].rules[0]).toMatchObject({
      alert: 'consumer_lag',
      expr: 'quantile by (tenant, plugin, group) (0.99, tenantry_plugin_consumer_lag_seconds) > 60',
      for: '5m',
    });
  });

  it('are reached over TLS, and only by who trusts the right authority', async () => {
    const over = async (ca: string) => {
      const entries = {
        'kafka-bootstrap-servers': `127.0.0.1:${kafka.tlsPort}`,
        'kafka-user': KAFKA_ADMIN.user,
        'kafka-password': KAFKA_ADMIN.password,
        'kafka-ca.crt': ca,
      };
      const encrypted = new KafkaBroker(brokerSettings(entries)!, realClock);
      try {
        return await encrypted.topics();
      } finally {
        await encrypted.close();
      }
    };
    expect(await over(kafka.ca)).toContain(PUBLISHED);
    await expect(over(readFileSync(join(target.data, 'pki', 'ca.crt'), 'utf8'))).rejects.toThrow(
      `Cannot reach Kafka at 127.0.0.1:${kafka.tlsPort}`,
    );
  });

  it('are looked after from a thread of its own in the built program', async () => {
    const threaded = brokerInThread(pathToFileURL('dist/kafka-worker.js'), broker.settings);
    expect(await threaded.topics()).toEqual(await broker.topics());
    expect(await threaded.compare([withdrawn('school', 'hello')])).toEqual(await broker.compare([withdrawn('school', 'hello')]));
    await threaded.close();
    const nowhere = brokerInThread(pathToFileURL('dist/kafka-worker.js'), {
      ...broker.settings,
      servers: [{ host: '127.0.0.1', port: 1 }],
    });
    await expect(nowhere.topics()).rejects.toThrow('Cannot reach Kafka at 127.0.0.1:1: connect ECONNREFUSED');
    await nowhere.close();
  });

  it('have put right what somebody changed', async () => {
    const login = await loginOf('plugin-school-hello');
    const done = await Promise.all([
      admin.allowReading(login.user, 'rival.course.published.v1'),
      admin.setPassword(login.user, 'somebody else knows this one'),
      admin.setQuota(login.user, 1e9),
      admin.setRetention(PUBLISHED, '600000'),
      admin.deleteTopic(DEAD_LETTERS),
    ]);
    expect(done).toEqual(done.map(() => 'allowed'));
    await vi.waitUntil(async () => (await broker.topics()).includes(DEAD_LETTERS), UPKEEP);
    const hello = actor(login);
    await vi.waitUntil(async () => (await hello.login()) === 'allowed', UPKEEP);
    await vi.waitUntil(async () => (await hello.read('rival.course.published.v1')) === 'TOPIC_AUTHORIZATION_FAILED', UPKEEP);
    expect(await loginOf('plugin-school-hello')).toEqual(login);
  });

  it('get a new password when somebody asks, while the one before still holds', async () => {
    const before = await loginOf('plugin-school-hello');
    const patch = { metadata: { annotations: { 'plugins.tenantry.dev/rotate': 'now' } } };
    await world.client.resource(PluginInstallationKind, 'school').patch('hello', { type: 'merge', patch });
    const after = await vi.waitUntil(async () => {
      const login = await loginOf('plugin-school-hello');
      return login.user !== before.user && login;
    }, UPKEEP);
    expect(after.user).toBe('plugin_hello_school_b');
    expect([await actor(before).read(PUBLISHED), await actor(after).read(PUBLISHED)]).toEqual(['allowed', 'allowed']);
  });

  it('can do nothing while they are suspended', async () => {
    const rival = await loginOf('plugin-rival-hello');
    await world.patch('rival', 'hello', { suspended: true });
    await vi.waitUntil(async () => (await actor(rival).read('rival.course.published.v1')) !== 'allowed', UPKEEP);
    await world.patch('rival', 'hello', { suspended: false });
    await vi.waitUntil(async () => (await actor(rival).read('rival.course.published.v1')) === 'allowed', UPKEEP);
  });

  it('are late when nobody reads: as the broker has it, in seconds', async () => {
    const question = { tenant: 'school', plugin: 'hello', topics: [PUBLISHED], groupPrefix: clientPrefixOf('school', 'hello'), since: 0 };
    const lag = async () => (await broker.lags([question])).filter(({ partition }) => partition === 0);
    // The group confirmed the very beginning, and there is an event since.
    await admin.commit('school.hello.main', PUBLISHED, 0n);
    const [first] = await lag();
    expect(first).toMatchObject({ tenant: 'school', plugin: 'hello', topic: PUBLISHED, group: 'school.hello.main' });
    expect(first.seconds).toBeGreaterThan(0);
    const started = Date.now();
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const [later] = await lag();
    const passed = (Date.now() - started) / 1000;
    expect(later.seconds - first.seconds).toBeGreaterThan(1.4);
    expect(later.seconds - first.seconds).toBeLessThan(passed + 1);
    const exposed = await vi.waitUntil(async () => {
      const line = String((await target.request('GET', '/metrics')).body)
        .split('\n')
        .find(
          (each) =>
            each.includes('tenantry_plugin_consumer_lag_seconds{tenant="school",plugin="hello"') &&
            each.includes('group="school.hello.main",partition="0"'),
        );
      return line && Number(line.split(' ').at(-1)) > 0 && line;
    }, UPKEEP);
    expect(exposed).toContain(`topic="${PUBLISHED}"`);
    await admin.commit('school.hello.main', PUBLISHED, 1n);
    expect((await lag())[0].seconds).toBe(0);

    // The mark at the end of a transaction is nothing to read, and nobody waits for it.
    await admin.writeInTransaction(PUBLISHED);
    await vi.waitUntil(async () => (await lag())[0].seconds > 0, UPKEEP);
    await admin.commit('school.hello.main', PUBLISHED, 2n);
    expect((await lag())[0].seconds).toBe(0);
    // Who never confirmed anything is late too.
    await admin.write('rival.course.published.v1');
    const rival = { ...question, tenant: 'rival', topics: ['rival.course.published.v1'], groupPrefix: clientPrefixOf('rival', 'hello') };
    const [silent] = (await broker.lags([rival])).filter(({ partition }) => partition === 0);
    expect(silent.group).toBe('(none)');
    expect(silent.seconds).toBeGreaterThan(0);
  });

  it('wait for one that is killed, to be installed or upgraded', async () => {
    await kafka.kill();
    await world.version('acme', 'late', '1.0.0', { events: { consumes: ['grade.given.v1'] } });
    await world.install('school', 'late', { version: '1.0.0' });
    await world.patch('school', 'hello', { version: '1.1.0' });
    for (const name of ['late', 'hello']) {
      const down = await vi.waitUntil(async () => {
        const found = await condition('school', name);
        return found?.reason === 'EventsUnavailable' && found;
      }, UPKEEP);
      expect(down.message).toContain(`Cannot reach Kafka at ${kafka.address}`);
      expect(down.message).toContain('trying again');
      expect((await world.get('school', name)).status!.phase).not.toBe('FAILED');
    }
    await kafka.run();
    await Promise.all([ready('school', 'late'), ready('school', 'hello')]);
    expect(await broker.topics()).toEqual(expect.arrayContaining(['school.course.rated.v1', 'school._dlq.late.grade.given.v1']));
    expect(await actor(await loginOf('plugin-school-hello')).write('school.course.rated.v1')).toBe('allowed');
  });

  const gone = (tenant: string, name: string) =>
    vi.waitUntil(async () => (await world.tenants.find(() => world.get(tenant, name))) === undefined, UPKEEP);
  const remains = async (tenant: string, plugin: string) => {
    const [changes] = await broker.compare([withdrawn(tenant, plugin)]);
    return changes;
  };
  const NOTHING = brokerDifference(
    { topics: [], users: [] },
    { topics: new Map(), iterations: new Map(), rules: new Map(), quotas: new Map() },
  );

  it('are nobody there once they are uninstalled; their topics stay unless they go with their data', async () => {
    const login = await loginOf('plugin-school-other');
    await world.client.resource(PluginInstallationKind, 'school').delete('other');
    await gone('school', 'other');
    expect(await remains('school', 'other')).toEqual(NOTHING);
    expect(await actor(login).login()).not.toBe('allowed');
    expect(await broker.topics()).toContain('school._dlq.other.grade.given.v1');

    await world.patch('school', 'late', { data: 'Delete' });
    await world.client.resource(PluginInstallationKind, 'school').delete('late');
    await gone('school', 'late');
    expect(await remains('school', 'late')).toEqual(NOTHING);
    const topics = await broker.topics();
    expect(topics).not.toContain('school._dlq.late.grade.given.v1');
    expect(topics).toContain(PUBLISHED);
  });

  it('leave nothing when their tenant goes', async () => {
    await world.client.resource(TenantKind).delete('school');
    await gone('school', 'hello');
    expect(await remains('school', 'hello')).toEqual(NOTHING);
    // What plugins left that were uninstalled before goes with it.
    await vi.waitUntil(async () => !(await broker.topics()).some((topic) => topic.startsWith('school.')), UPKEEP);
    await vi.waitUntil(
      async () =>
        (await world.client.resource(ConfigMap, 'tenantry-system').list()).items.every(
          ({ metadata }) => metadata.name !== 'plugin-events-of-school',
        ),
      UPKEEP,
    );
    expect(await admin.offsets('school.hello.main')).toBe('allowed');
    expect(usersOf('rival', 'hello').length).toBe(2);
    expect((await broker.topics()).filter((topic) => topic.startsWith('rival.'))).toHaveLength(3);
  });
});
