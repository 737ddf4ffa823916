import { createLocalJWKSet, jwtVerify } from 'jose';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PluginInstallationKind } from '../../../src/api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  LimitRange,
  NetworkPolicy,
  ResourceQuota,
  RoleBinding,
  Secret,
  Service,
} from '../../../src/client/kinds.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { TenantKind } from '../../../src/api/tenantry.dev/v1alpha1/tenant.ts';
import { events } from '../../../src/cli/plugin/events.ts';
import { get } from '../../../src/cli/plugin/get.ts';
import { install, rollback, upgrade } from '../../../src/cli/plugin/install.ts';
import { list } from '../../../src/cli/plugin/list.ts';
import { uninstall } from '../../../src/cli/plugin/uninstall.ts';
import { startPostgres, type PostgresServer } from '../../support/postgres-server.ts';
import { PluginWorld } from './plugin-world.ts';

describe('a PluginInstallation', { timeout: 60_000 }, () => {
  let world: PluginWorld;
  let postgres: PostgresServer | undefined;
  let stopKubelet: () => Promise<void>;
  beforeAll(async () => {
    world = await PluginWorld.start();
    await Promise.all([world.publisher('acme', 'acme'), world.publisher('rival', 'rival')]);
    await world.tenants.tenant('school', { owners: [{ kind: 'User', name: 'alice' }] });
    await world.tenants.node('worker');
    stopKubelet = world.tenants.playKubelet(['plugin-school-hello', 'plugin-school-scaled', 'plugin-school-keys', 'plugin-school-notes']);
  }, 60_000);
  afterAll(async () => {
    await stopKubelet?.();
    await world?.stop();
    await postgres?.stop();
  }, 60_000);

  it('becomes ACTIVE: a namespace of the platform with limits, policies, an identity and a workload by digest', async () => {
    const image = await world.version('acme', 'hello', '1.0.0', {
      permissions: ['content.read'],
      mcpTools: [{ name: 'hi', description: 'says hi', endpoint: '/mcp/hi', schema: 'hi.json' }] as never,
    });
    await world.install('school', 'hello', { version: '1.0.0' });
    const { status } = await world.phase('school', 'hello', 'ACTIVE');
    const namespace = 'plugin-school-hello';
    expect(status).toMatchObject({
      namespace,
      version: '1.0.0',
      image,
      imageStatus: 'Running',
      history: [{ version: '1.0.0', image, isKnownGood: true }],
    });
    expect(status!.conditions!.filter((each) => each.status !== 'True')).toMatchObject([
      { type: 'ToolsRegistered', reason: 'NoToolRegistry' },
    ]);
    expect((await world.find(namespace))!.metadata.labels).toMatchObject({
      'tenantry.dev/tenant': 'school',
      'tenantry.dev/role': 'plugin',
      'plugins.tenantry.dev/plugin': 'hello',
      'plugins.tenantry.dev/publisher': 'acme',
      'plugins.tenantry.dev/version': '1.0.0',
      'pod-security.kubernetes.io/enforce': 'restricted',
    });
    const deployment = await world.client.resource<KubeObject>(Deployment, namespace).get('plugin-1-0-0');
    expect(deployment.spec.template.spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          image,
          securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
          startupProbe: { httpGet: { path: '/health', port: 8080 } },
        },
      ],
    });
    for (const kind of [ResourceQuota, LimitRange] as const)
      expect(await world.client.resource<KubeObject>(kind as never, namespace).get('plugin')).toBeDefined();
    expect(await world.client.resource(Service, namespace).get('plugin-1-0-0')).toBeDefined();
    const policies = (await world.client.resource(NetworkPolicy, namespace).list()).items.map(({ metadata }) => metadata.name!);
    expect(policies.toSorted((a, b) => a.localeCompare(b))).toEqual(['default-deny', 'plugin-egress', 'plugin-ingress']);
    await expect
      .poll(() => world.transitions('school', 'hello'), { timeout: 10_000 })
      .toEqual(['NEW -> INSTALLING', 'INSTALLING -> ACTIVE']);
  });

  it('has a token that verifies by the published keys and says whose it is', async () => {
    const published = await world.client.resource<KubeObject>(ConfigMap, 'tenantry-system').get('plugin-token-jwks');
    const keys = createLocalJWKSet(JSON.parse(published.data['jwks.json']));
    const { payload } = await jwtVerify(await world.token('plugin-school-hello'), keys, {
      audience: 'adapstory-plugin-gateway',
      algorithms: ['ES256'],
    });
    expect(payload).toMatchObject({
      sub: 'plugin:hello:school',
      adapstory_tenant_id: 'school',
      plugin_id: 'acme.hello',
      permissions: ['content.read'],
    });
    expect(payload.exp! - payload.iat!).toBeLessThanOrEqual(600);
    expect(published.data['jwks.json']).not.toContain('"d"');
  });

  it('gives owners sight of itself, and nothing inside its namespace', async () => {
    const alice = await world.tenants.as('alice');
    expect((await alice.resource(PluginInstallationKind, 'school').get('hello')).status?.phase).toBe('ACTIVE');
    await expect(alice.resource(Secret, 'plugin-school-hello').get('plugin-token')).rejects.toMatchObject({ code: 403 });
    await expect(alice.resource(Deployment, 'plugin-school-hello').delete('plugin-1-0-0')).rejects.toMatchObject({ code: 403 });
    const bindings = (await world.client.resource(RoleBinding, 'plugin-school-hello').list()).items.map(({ metadata }) => metadata.name);
    expect(bindings).not.toContain('tenantry:owners');
  });

  it('writes nothing again when nothing changed, and repairs what somebody took away', async () => {
    const before = await world.get('school', 'hello');
    await world.client
      .resource(PluginInstallationKind, 'school')
      .patch('hello', { type: 'merge', patch: { metadata: { labels: { touched: 'yes' } } } });
    await world.client.resource(NetworkPolicy, 'plugin-school-hello').delete('default-deny');
    await world.tenants.eventually(() =>
      world.tenants.find(() => world.client.resource(NetworkPolicy, 'plugin-school-hello').get('default-deny')),
    );
    expect((await world.get('school', 'hello')).status).toEqual(before.status);
  });

  it('takes a rule away that somebody added to its network', async () => {
    const policies = world.client.resource<KubeObject>(NetworkPolicy, 'plugin-school-hello');
    await policies.patch('default-deny', { type: 'merge', patch: { spec: { egress: [{}] } } });
    await world.tenants.eventually(async () => (await policies.get('default-deny')).spec.egress === undefined);
  });

  it('is upgraded and rolled back, through known states only', async () => {
    await world.version('acme', 'hello', '1.1.0');
    await world.patch('school', 'hello', { version: '1.1.0' });
    await world.until('school', 'hello', ({ status }) => status?.version === '1.1.0' && status.phase === 'ACTIVE');
    await world.patch('school', 'hello', { rollback: { request: 1 } });
    const { status } = await world.phase('school', 'hello', 'ROLLED_BACK');
    expect(status).toMatchObject({ version: '1.0.0', observedRollback: 1 });
    expect(status!.history!.map(({ version, isKnownGood }) => [version, isKnownGood])).toEqual([
      ['1.0.0', true],
      ['1.1.0', false],
      ['1.0.0', true],
    ]);
    await world.patch('school', 'hello', { rollback: { request: 2 } });
    const refused = await world.until('school', 'hello', (each) => each.status?.reason === 'NoKnownGood');
    expect(refused.status).toMatchObject({ phase: 'ROLLED_BACK', version: '1.0.0', refusedRollback: 2 });
    await world.patch('school', 'hello', { rollback: null, version: '1.0.0' });
    await world.phase('school', 'hello', 'ACTIVE');
  });

  it('is suspended without a token, and resumed with a new one', async () => {
    await world.patch('school', 'hello', { suspended: true });
    await world.phase('school', 'hello', 'SUSPENDED');
    expect(await world.tenants.find(() => world.token('plugin-school-hello'))).toBeUndefined();
    expect((await world.client.resource<KubeObject>(Deployment, 'plugin-school-hello').get('plugin-1-0-0')).spec.replicas).toBe(0);
    await world.patch('school', 'hello', { suspended: false });
    await world.phase('school', 'hello', 'ACTIVE');
    expect(await world.token('plugin-school-hello')).toContain('.');
  });

  it('is FAILED with SignatureInvalid and starts nothing, until its version is verified', async () => {
    await world.version('acme', 'scaled', '1.0.0', { runtime: { replicas: { min: 1, max: 3, targetCPUUtilization: 50 } } }, 'late');
    await world.install('school', 'scaled', { version: '1.0.0' });
    const { status } = await world.phase('school', 'scaled', 'FAILED');
    expect(status).toMatchObject({
      reason: 'SignatureInvalid',
      imageStatus: 'ImagePullBackOff',
      message: expect.stringContaining('acme.scaled.1.0.0'),
    });
    expect(await world.find('plugin-school-scaled')).toBeUndefined();
    await world.publisher('acme', 'acme', 'late');
    await world.phase('school', 'scaled', 'ACTIVE');
    expect(
      (await world.client.resource<KubeObject>(HorizontalPodAutoscaler, 'plugin-school-scaled').get('plugin-1-0-0')).spec,
    ).toMatchObject({
      minReplicas: 1,
      maxReplicas: 3,
    });
    await expect
      .poll(() => world.transitions('school', 'scaled'), { timeout: 10_000 })
      .toEqual(['NEW -> FAILED', 'FAILED -> INSTALLING', 'INSTALLING -> ACTIVE']);
  });

  it('is suspended by what runs, though its version is revoked', async () => {
    await world.publisher('acme', 'acme');
    await world.until('school', 'scaled', ({ status }) => status?.reason === 'SignatureInvalid');
    await world.patch('school', 'scaled', { suspended: true });
    const { status } = await world.phase('school', 'scaled', 'SUSPENDED');
    expect(status).toMatchObject({ version: '1.0.0', reason: 'SignatureInvalid' });
    expect(status!.identity).toBeUndefined();
    const namespace = 'plugin-school-scaled';
    expect(await world.tenants.find(() => world.token(namespace))).toBeUndefined();
    expect((await world.client.resource<KubeObject>(Deployment, namespace).get('plugin-1-0-0')).spec.replicas).toBe(0);
    expect((await world.client.resource(HorizontalPodAutoscaler, namespace).list()).items).toEqual([]);
    await world.publisher('acme', 'acme', 'late');
    await world.patch('school', 'scaled', { suspended: false });
    await world.phase('school', 'scaled', 'ACTIVE');
    expect((await world.client.resource<KubeObject>(Deployment, namespace).get('plugin-1-0-0')).spec.replicas).toBe(1);
  });

  it('waits for a secret by its path, and gets it when it is there', async () => {
    await world.version('acme', 'keys', '1.0.0', { secrets: [{ name: 'api', property: 'key', env: 'API_KEY' }] });
    await world.install('school', 'keys');
    const path = 'adapstory/plugins/keys/school/api';
    const { status } = await world.until('school', 'keys', (each) => each.status?.reason === 'SecretMissing');
    expect(status).toMatchObject({ phase: 'INSTALLING', message: expect.stringContaining(path) });
    const metadata = {
      name: 'any',
      labels: { 'plugins.tenantry.dev/stored-secret': 'true' },
      annotations: { 'plugins.tenantry.dev/secret-path': path },
    };
    await world.client.resource(Secret, 'tenantry-system').create({ metadata, stringData: { key: 's3cret', other: 'x' } });
    await world.phase('school', 'keys', 'ACTIVE');
    const given = await world.client.resource<KubeObject>(Secret, 'plugin-school-keys').get('plugin-secrets');
    expect(Object.values(given.data)).toEqual([Buffer.from('s3cret').toString('base64')]);
    expect(JSON.stringify((await world.get('school', 'keys')).status)).not.toContain('s3cret');
  });

  it('waits for a Kafka that it needs, and says what to configure', async () => {
    await world.version('acme', 'talker', '1.0.0', { events: { consumes: ['course.published.v1'] } });
    await world.install('school', 'talker');
    const { status } = await world.until('school', 'talker', (found) => found.status?.reason === 'EventsUnavailable');
    expect(status).toMatchObject({ phase: 'INSTALLING', message: expect.stringContaining('kafka-bootstrap-servers') });
  });

  it('has a database of its own, migrated so that the version before goes on, and no way back past what was taken away', async () => {
    const database = { connectionLimit: 5, migrations: { path: 'db' } };
    const first = { 'db/001_notes.sql': 'CREATE TABLE notes (id bigserial PRIMARY KEY, text text, old text)' };
    await world.version('acme', 'notes', '1.0.0', { database, files: first });
    postgres = await startPostgres();
    const settings = { metadata: { name: 'plugin-platform' }, stringData: { 'postgres-dsn': postgres.dsn } };
    await world.client.resource(Secret, 'tenantry-system').create(settings);
    await world.install('school', 'notes', { version: '1.0.0' });
    await world.phase('school', 'notes', 'ACTIVE');
    const access = await world.client.resource<KubeObject>(Secret, 'plugin-school-notes').get('plugin-database');
    const client = new Client({ connectionString: Buffer.from(access.data.uri, 'base64').toString() });
    await client.connect();
    await client.query("INSERT INTO notes (text) VALUES ('hi')");
    await client.end();
    const { spec } = await world.client.resource<KubeObject>(NetworkPolicy, 'plugin-school-notes').get('plugin-egress');
    expect(JSON.stringify(spec.egress)).toContain('127.0.0.1/32');

    const drop = { ...first, 'db/002_drop.sql': '\nALTER TABLE notes DROP COLUMN old' };
    await world.version('acme', 'notes', '1.1.0', { database, files: drop });
    await world.patch('school', 'notes', { version: '1.1.0' });
    const refused = await world.phase('school', 'notes', 'FAILED');
    expect(refused.status).toMatchObject({
      reason: 'MigrationRefused',
      version: '1.0.0',
      message: expect.stringContaining('002_drop.sql:2 drop-column'),
    });

    const declared = { ...database, migrations: { path: 'db', contract: ['db/002_drop.sql'] } };
    await world.version('acme', 'notes', '1.2.0', { database: declared, files: drop });
    await world.patch('school', 'notes', { version: '1.2.0' });
    await world.until('school', 'notes', ({ status }) => status?.version === '1.2.0' && status.phase === 'ACTIVE');
    await world.patch('school', 'notes', { rollback: { request: 1 } });
    const kept = await world.until('school', 'notes', ({ status }) => status?.reason === 'RollbackForbidden');
    expect(kept.status).toMatchObject({ phase: 'ACTIVE', version: '1.2.0' });

    expect(
      await uninstall(
        world.session(() => {}),
        'notes',
        { tenant: 'school', deleteData: true },
      ),
    ).toBe(0);
    const admin = new Client({ connectionString: postgres.dsn });
    await admin.connect();
    expect((await admin.query("SELECT rolname FROM pg_roles WHERE rolname LIKE 'plugin%'")).rows).toEqual([]);
    expect((await admin.query("SELECT datname FROM pg_database WHERE datname LIKE 'tenant%'")).rows).toEqual([]);
    await admin.end();
  });

  it('keeps off the namespace of another publisher’s plugin of the same name', async () => {
    await world.version('rival', 'hello', '9.0.0');
    await world.install('school', 'hello', { publisher: 'rival', data: 'Delete' }, 'their-hello');
    expect((await world.phase('school', 'their-hello', 'FAILED')).status?.reason).toBe('NameTaken');
    await world.client.resource(PluginInstallationKind, 'school').delete('their-hello');
    await world.tenants.eventually(async () => (await world.tenants.find(() => world.get('school', 'their-hello'))) === undefined);
    expect((await world.get('school', 'hello')).status?.phase).toBe('ACTIVE');
    expect(await world.find('plugin-school-hello')).toBeDefined();
  });

  it('is refused outside of a tenant', async () => {
    await world.install('default', 'hello');
    expect((await world.phase('default', 'hello', 'FAILED')).status?.reason).toBe('NotATenant');
    await world.client.resource(PluginInstallationKind, 'default').delete('hello');
  });

  it('is installed, shown, rolled back and uninstalled by commands', async () => {
    await world.version('acme', 'scaled', '1.1.0');
    const said: string[] = [];
    const session = world.session((text) => said.push(text));
    const flags = { tenant: 'school' };
    expect(await upgrade(session, 'scaled', { ...flags, to: '1.1.0' })).toBe(0);
    expect(await rollback(session, 'scaled', flags)).toBe(0);
    expect(await rollback(session, 'scaled', { ...flags, to: '7.0.0' })).toBe(1);
    await list(session, flags);
    await get(session, 'scaled', flags);
    await events(session, 'scaled', flags);
    expect(await uninstall(session, 'scaled', flags)).toBe(0);
    await expect(install(session, 'acme/scaled', { tenant: 'nobody' })).rejects.toThrow('Cannot install "acme/scaled"');
    expect(await install(session, 'acme/scaled@1.1.0', flags)).toBe(0);
    const text = said.join('');
    for (const part of [
      'plugin scaled 1.1.0 is ACTIVE',
      'plugin scaled 1.0.0 is ROLLED_BACK',
      'plugin scaled 1.0.0 is ROLLED_BACK: NoKnownGood',
      'acme/scaled',
      'History:',
      'UPGRADING -> ROLLED_BACK',
      'plugin scaled uninstalled',
    ]) {
      expect(text).toContain(part);
    }
  });

  it('takes everything with it when it is uninstalled, its secrets when asked', async () => {
    await world.patch('school', 'keys', { data: 'Delete' });
    for (const name of ['keys', 'hello']) await world.client.resource(PluginInstallationKind, 'school').delete(name);
    for (const name of ['keys', 'hello']) {
      await world.tenants.eventually(async () => (await world.tenants.find(() => world.get('school', name))) === undefined);
      expect(await world.find(`plugin-school-${name}`)).toBeUndefined();
    }
    expect(await world.tenants.find(() => world.client.resource(Secret, 'tenantry-system').get('any'))).toBeUndefined();
  });

  it('rests while its tenant is suspended, and goes with it', async () => {
    await world.tenants.patch('school', { suspended: true });
    await world.until('school', 'scaled', ({ status }) => status?.phase === 'SUSPENDED');
    await world.tenants.until('school', ({ status }) => status?.phase === 'Suspended');
    await world.tenants.patch('school', { suspended: null });
    await world.until('school', 'scaled', ({ status }) => status?.phase === 'ACTIVE');
    await world.client.resource(TenantKind).delete('school');
    await world.tenants.eventually(async () => (await world.tenants.find(() => world.tenants.get('school'))) === undefined);
    expect(await world.find('plugin-school-scaled')).toBeUndefined();
  });
});
