import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PluginInstallationKind } from '../../../src/api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { PluginVersionKind, pluginVersionName } from '../../../src/api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import type { Client } from '../../../src/client/client.ts';
import { Pod, RoleBinding, Secret } from '../../../src/client/kinds.ts';
import { exportInstallation } from '../../../src/cli/plugin/export.ts';
import { logs } from '../../../src/cli/plugin/logs.ts';
import type { Session } from '../../../src/cli/terminal/session.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { aManifest, PluginWorld } from './plugin-world.ts';

const NAMESPACE = 'plugin-school-hello';

describe('an owner of a tenant', { timeout: 60_000 }, () => {
  let world: PluginWorld;
  let alice: Client;
  let stopKubelet: () => Promise<void>;
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-export-'));
  beforeAll(async () => {
    world = await PluginWorld.start();
    await world.publisher('acme', 'acme');
    await world.tenants.tenant('school', { owners: [{ kind: 'User', name: 'alice' }] });
    await world.tenants.node('worker');
    stopKubelet = world.tenants.playKubelet([NAMESPACE]);
    alice = await world.tenants.as('alice');
    await world.version('acme', 'hello', '1.0.0', { secrets: [{ name: 'api', optional: true }] });
    await world.install('school', 'hello');
    await world.phase('school', 'hello', 'ACTIVE');
  }, 60_000);
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await stopKubelet?.();
    await world?.stop();
  }, 60_000);

  let said = '';
  /** No kubelet has logs here: what the API server is asked for is what counts. */
  function sessionOf(client: Client, log: (path: string) => string): Session {
    const plain = world.session((text) => void (said += text));
    const stream = ({ path }: { path: string }) => Promise.resolve({ status: 200, headers: {}, body: Readable.from([log(path)]) });
    return { ...plain, cluster: { ...plain.cluster, client, transport: { stream } as never } };
  }

  it('sees the Pods of its plugins and what they write, and no Secret of theirs', async () => {
    await world.tenants.eventually(seesPods);
    const { items } = await alice.resource(Pod, NAMESPACE).list();
    expect(items.length).toBeGreaterThan(0);
    await expect(alice.resource(Secret, NAMESPACE).list()).rejects.toMatchObject({ code: 403 });
    await expect(alice.resource(Pod, NAMESPACE).delete(items[0].metadata.name!)).rejects.toMatchObject({ code: 403 });
    const review = async (verb: string, subresource?: string) => {
      const attributes = { namespace: NAMESPACE, verb, resource: 'pods', subresource };
      const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes: attributes } };
      const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
      return (await alice.request<KubeObject>({ method: 'POST', path, body })).status.allowed as boolean;
    };
    expect(await review('get', 'log')).toBe(true);
    expect(await review('create', 'exec')).toBe(false);
  });

  it('loses sight of them when she owns the tenant no longer, and what somebody else took away comes back', async () => {
    await world.client.resource(RoleBinding, NAMESPACE).delete('tenantry:plugins:logs');
    await world.tenants.eventually(() =>
      world.tenants.find(() => world.client.resource(RoleBinding, NAMESPACE).get('tenantry:plugins:logs')),
    );
    await world.tenants.patch('school', { owners: [{ kind: 'User', name: 'bob' }] });
    await world.tenants.eventually(async () => !(await seesPods()));
    await world.tenants.patch('school', { owners: [{ kind: 'User', name: 'alice' }] });
    await world.tenants.eventually(seesPods);
    await world.tenants.eventually(() => seesInstallation());
  });

  const seesPods = () =>
    alice
      .resource(Pod, NAMESPACE)
      .list()
      .then(
        () => true,
        () => false,
      );
  const seesInstallation = () =>
    alice
      .resource(PluginInstallationKind, 'school')
      .get('hello')
      .then(
        () => true,
        () => false,
      );

  it('reads logs by the name of the installation', async () => {
    said = '';
    expect(
      await logs(
        sessionOf(alice, (path) => `one ${path}\ntwo\n`),
        'hello',
        { tenant: 'school' },
      ),
    ).toBe(0);
    expect(said).toMatch(/^one \/api\/v1\/namespaces\/plugin-school-hello\/pods\/[-a-z0-9]+\/log\ntwo\n$/);
    said = '';
    expect(
      await logs(
        sessionOf(alice, () => ''),
        'hello',
        { tenant: 'school', of: '9.9.9' },
      ),
    ).toBe(0);
    expect(said).toContain('has no Pods of version 9.9.9');
    await expect(
      logs(
        sessionOf(alice, () => ''),
        'nope',
        { tenant: 'school' },
      ),
    ).rejects.toThrow('Cannot read the logs of plugin "nope"');
  });

  it('has all of a plugin exported, its secrets by path only', async () => {
    const parts = { database: { migrations: { path: 'db' } }, files: { 'db/001_x.sql': 'CREATE TABLE x ()' } };
    // Signed by a stranger, so that it is not installed: its database is not what this is about.
    await world.version('acme', 'hello', '1.1.0', parts, 'stranger');
    await world.patch('school', 'hello', { version: '1.1.0' });
    await world.until('school', 'hello', ({ status }) => status?.target?.version === '1.1.0');
    const to = join(folder, 'all');
    said = '';
    const dump = async (_: Client, tenant: string, plugin: string, write: (text: string) => unknown) => {
      await write(`-- ${tenant} ${plugin}\n`);
    };
    expect(
      await exportInstallation(
        sessionOf(world.client, () => ''),
        dump,
        'hello',
        { tenant: 'school', to },
      ),
    ).toBe(0);
    expect(said).toContain('installation, history, 2 versions, database');
    const read = (file: string) => readFileSync(join(to, file), 'utf8');
    expect(read('installation.yaml')).toContain('plugin: hello');
    expect(read('history.yaml')).toContain('version: 1.0.0');
    expect(read('versions/1.0.0/plugin.yaml')).toContain('adapstory.com/v1');
    expect(read('versions/1.1.0/db/001_x.sql')).toBe('CREATE TABLE x ()');
    expect(read('secrets.yaml')).toContain('adapstory/plugins/hello/school/api');
    expect(read('database.sql')).toBe('-- school hello\n');
    await expect(
      exportInstallation(
        sessionOf(world.client, () => ''),
        dump,
        'hello',
        { tenant: 'school', to },
      ),
    ).rejects.toThrow('it is not empty');
  });

  it('has no file written outside of the folder, whatever a publisher called it', async () => {
    const spec = { publisher: 'acme', plugin: 'hello', version: '1.2.0' };
    const manifest = aManifest('acme', 'hello', '1.2.0', 'r.example/acme/hello:1.2.0');
    const files = { '../../../escaped': 'x' };
    const name = pluginVersionName('acme', 'hello', '1.2.0');
    await world.client.resource(PluginVersionKind).create({ metadata: { name }, spec: { ...spec, manifest, files } });
    await world.patch('school', 'hello', { version: '1.2.0' });
    const to = join(folder, 'crooked');
    const exported = exportInstallation(
      sessionOf(world.client, () => ''),
      async () => {},
      'hello',
      { tenant: 'school', to },
    );
    await expect(exported).rejects.toThrow('it leads out of its folder');
    expect(existsSync(join(folder, 'escaped'))).toBe(false);
  });
});
