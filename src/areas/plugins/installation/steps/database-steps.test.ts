import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { stalled } from '../../../../runtime/steps/outcome.ts';
import { PlatformDatabase } from '../../database/platform-database.ts';
import { covers, digestOf, type Migration, type Settled } from '../../database/settled.ts';
import { databaseReady } from './database-ready.step.ts';
import { networkIsolated } from './kept.steps.ts';

const context = { signal: new AbortController().signal, now: () => 0 };
const AWAY = () => Promise.reject(new Error('connect ECONNREFUSED 127.0.0.1:5432'));
const UNCONFIGURED = new PlatformDatabase({ find: () => undefined } as never);

/** Version 1.1.0 has one migration more than 1.0.0, and 2.0.0 has no database. */
function target(version: string): object {
  const names = { '1.0.0': ['001.sql'], '1.1.0': ['001.sql', '002.sql'] }[version];
  const files = Object.fromEntries((names ?? []).map((name) => [`db/${name}`, `CREATE TABLE t${name[2]} (id int)`]));
  const runtime = { startupProbe: { path: '/', port: 8080 } };
  const manifest = { spec: names ? { runtime, database: { migrations: { path: 'db' } } } : { runtime } };
  const metadata = { uid: version };
  return {
    tenant: 'school',
    plugin: 'hello',
    publisher: 'acme',
    namespace: 'plugin-school-hello',
    version: { metadata, spec: { version, files, manifest } },
    manifest,
  };
}

/** A server, and the Secret that leads to it. */
class Server {
  isAway = false;
  asked: string[] = [];
  secret: KubeObject | undefined;
  settled: Settled | undefined;

  run(version: string, { others = [] as string[], claim = () => Promise.resolve(undefined as unknown) } = {}) {
    const ask = <T>(what: string, answer: T): Promise<T> => {
      this.asked.push(what);
      return this.isAway ? AWAY() : Promise.resolve(answer);
    };
    const databases = {
      access: () => ({ host: '127.0.0.1', port: 5432, database: 'tenant_school', schema: 'plugin_hello' }),
      isSettled: (_: string, __: string, state: string, files: Migration[]) => Promise.resolve(covers(this.settled, state, files)),
      provision: () => ask('provision', undefined),
      migrate: (_: string, __: string, files: Migration[]) =>
        ask(
          'migrate',
          files.map(({ name, sql }) => ({ name, digest: digestOf(sql), isContract: false })),
        ),
      settle: async (_: string, __: string, settled: Settled) => {
        await ask('settle', undefined);
        this.settled = settled;
      },
    };
    const step = databaseReady({
      target: () => target(version),
      versions: () => [version, ...others].map(target),
      version: () => undefined,
      keep: (_: unknown, __: string, ___: string, [secret]: KubeObject[]) => Promise.resolve(void (this.secret = secret)),
      findSecret: () => this.secret,
      databases: () => Promise.resolve(databases),
      claims: { claim },
      lint: () => Promise.resolve([]),
    } as never);
    return step.run({ spec: { publisher: 'acme', plugin: 'hello' } } as never, context);
  }
}

describe('databaseReady', () => {
  test('asks nothing of a server that is as it should be', async () => {
    const server = new Server();
    expect(await server.run('1.0.0')).toMatchObject({ type: 'done' });
    expect(server.asked).toEqual(['provision', 'migrate', 'settle']);
    expect(await server.run('1.0.0')).toMatchObject({ type: 'done' });
    expect(server.asked).toHaveLength(3);
  });

  test('goes back to a version whose migrations are applied while the server is away', async () => {
    const server = new Server();
    await server.run('1.0.0');
    await server.run('1.1.0');
    server.isAway = true;
    expect(await server.run('1.0.0')).toMatchObject({ type: 'done' });
  });

  test('waits for a server that is away when something is to be applied', async () => {
    const server = new Server();
    await server.run('1.0.0');
    server.isAway = true;
    expect(await server.run('1.1.0')).toMatchObject({ type: 'waiting', reason: 'DatabaseUnavailable' });
  });

  test('leaves the way to the database to a version that still serves', async () => {
    const server = new Server();
    await server.run('1.0.0');
    expect(await server.run('2.0.0', { others: ['1.0.0'] })).toMatchObject({ type: 'done', reason: 'NotNeeded' });
    expect(server.secret).toBeDefined();
    await server.run('2.0.0');
    expect(server.secret).toBeUndefined();
  });

  test('touches nothing where the data are of another publisher', async () => {
    const server = new Server();
    const claim = () => Promise.resolve(stalled('NameTaken', 'of another'));
    expect(await server.run('1.0.0', { claim })).toEqual(stalled('NameTaken', 'of another'));
    expect([server.asked, server.secret]).toEqual([[], undefined]);
  });

  test('says what to configure where there is no server', async () => {
    const step = databaseReady({
      target: () => target('1.0.0'),
      version: () => undefined,
      databases: () => UNCONFIGURED.open(),
      lint: () => Promise.resolve([]),
    } as never);
    const outcome = await step.run({ spec: { publisher: 'acme', plugin: 'hello' } } as never, context);
    expect(outcome).toMatchObject({ type: 'waiting', reason: 'DatabaseUnavailable' });
    expect(outcome.message).toBe(
      'Cannot install "hello": its spec.database needs PostgreSQL: none is configured; put postgresql://user:password@host:port/postgres into postgres-dsn of the Secret tenantry-system/plugin-platform; trying again',
    );
  });
});

test('networkIsolated does without the address of a server that is not there', async () => {
  const step = networkIsolated({
    target: () => target('1.0.0'),
    versions: () => [target('1.0.0')],
    keep: () => Promise.resolve(),
    databaseAddresses: () => UNCONFIGURED.addresses(),
  } as never);
  expect(await step.run({} as never, context)).toMatchObject({ type: 'done' });
});
