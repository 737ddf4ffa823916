import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PluginInstallationKind } from '../../../src/api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { RECHECK_ANNOTATION } from '../../../src/api/plugins.tenantry.dev/v1alpha1/names.ts';
import { PluginVersionKind, pluginVersionName } from '../../../src/api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { Deployment, Event, Pod } from '../../../src/client/kinds.ts';
import { put } from '../../../src/cli/secrets/put.ts';
import { findCondition } from '../../../src/kube/conditions.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { PLUGINS_USER } from '../../../src/areas/plugins/plugins-rights.ts';
import { pluginNamespaceOf } from '../../../src/areas/plugins/installation/model/plugin-names.ts';
import type { EmbeddedTarget } from '../../support/embedded-target.ts';
import { aManifest, PluginWorld } from './plugin-world.ts';

const LONG_PLUGIN = `b${'c'.repeat(62)}`;
const LONG_TENANT = `t${'e'.repeat(39)}`;

describe('what is meant to break plugins', { timeout: 60_000 }, () => {
  let world: PluginWorld;
  let stopKubelet: () => Promise<void>;
  beforeAll(async () => {
    world = await PluginWorld.start();
    await world.publisher('acme', 'acme');
    for (const tenant of ['school', 'a', 'a-b', LONG_TENANT]) await world.tenants.tenant(tenant);
    await world.tenants.node('worker');
    const namespaces = [
      ['a-b', 'c'],
      ['a', 'b-c'],
      [LONG_TENANT, LONG_PLUGIN],
      ['school', 'moved'],
      ['school', 'late'],
    ].map(([tenant, plugin]) => pluginNamespaceOf(tenant, plugin));
    stopKubelet = world.tenants.playKubelet(namespaces);
  }, 60_000);
  afterAll(async () => {
    await stopKubelet?.();
    await world?.stop();
  }, 60_000);

  /** A version as somebody writes it who does not use our command. */
  async function publish(plugin: string, change: (manifest: KubeObject) => void, files: Record<string, string> = {}): Promise<string> {
    const manifest = structuredClone(aManifest('acme', plugin, '1.0.0', world.imageOf('acme', plugin, '1.0.0'))) as unknown as KubeObject;
    change(manifest);
    const name = pluginVersionName('acme', plugin, '1.0.0');
    const spec = { publisher: 'acme', plugin, version: '1.0.0', manifest, files };
    await world.client.resource(PluginVersionKind).create({ metadata: { name }, spec: spec as never });
    return name;
  }
  const version = (name: string) => world.client.resource(PluginVersionKind).get(name);
  const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`) as unknown;

  it.each<[string, string, (manifest: KubeObject) => void, Record<string, string>?]>([
    ['a name that leads up', 'up', (manifest) => (manifest.metadata.name = '../../etc')],
    ['a name that is SQL', 'sql', (manifest) => (manifest.metadata.name = 'x"; DROP SCHEMA public; --')],
    ['the name of another plugin', 'other', (manifest) => (manifest.metadata.name = 'hello')],
    ['another publisher', 'rival', (manifest) => Object.assign(manifest.metadata, { publisher: 'rival' })],
    ['a secret of another tenant', 'thief', (manifest) => (manifest.spec.secrets = [{ name: 'x', path: '../../hello/victim/api' }])],
    ['a variable that is a command', 'env', (manifest) => (manifest.spec.runtime.env = { 'A;rm -rf /': 'x' })],
    ['the whole internet written wrong', 'cidr', (manifest) => (manifest.spec.egress = { cidrs: [{ cidr: '0.0.0.0', ports: [1] }] })],
    ['a probe that ends the request', 'probe', (manifest) => (manifest.spec.runtime.startupProbe = { path: '/\r\nx: y', port: 1 })],
    ['more than anybody could read', 'bomb', (manifest) => (manifest.spec.mcpTools = Array.from({ length: 5000 }, () => ({})))],
    ['lists within lists', 'deep', (manifest) => (manifest.spec.events = { consumes: nested(500) })],
    ['a file that leads up', 'files', () => {}, { '../../x': 'y' }],
    ['a prototype', 'proto', (manifest) => Object.assign(manifest.spec, JSON.parse('{"__proto__x":1,"constructor":{"a":1}}'))],
  ])('%s in a manifest is refused, whoever wrote it, and nothing is installed', async (_, plugin, change, files) => {
    const name = await publish(plugin, change, files);
    const condition = await world.tenants.eventually(async () => findCondition((await version(name)).status?.conditions, 'ManifestValid'));
    expect(condition).toMatchObject({ status: 'False', reason: 'ManifestInvalid' });
    expect(condition.message.length).toBeLessThan(4_000);
    await world.install('school', plugin, { version: '1.0.0' });
    await world.phase('school', plugin, 'FAILED');
    expect(await world.find(pluginNamespaceOf('school', plugin))).toBeUndefined();
  });

  it.each([
    ['a slash', 'hello/victim'],
    ['a quote', `hello'`],
    ['a way up', '..'],
    ['capitals', 'Hello'],
    ['two dashes', 'a--b'],
    ['64 characters', 'x'.repeat(64)],
  ])('an installation of a plugin whose name has %s is refused', async (_, plugin) => {
    const metadata = { name: 'crooked' };
    const made = world.client.resource(PluginInstallationKind, 'school').create({ metadata, spec: { publisher: 'acme', plugin } });
    await expect(made).rejects.toMatchObject({ code: 422 });
  });

  it('an installation never becomes that of another plugin', async () => {
    await world.install('school', 'fixed');
    await expect(world.patch('school', 'fixed', { plugin: 'other' })).rejects.toThrow('the plugin of an installation never changes');
  });

  it('tenant "a-b" with plugin "c" shares nothing with tenant "a" with plugin "b-c"', async () => {
    const input = (text: string) => ({ isTerminal: false, bytes: async () => Buffer.from(text), typed: async () => '' });
    const session = world.session(() => {});
    for (const [tenant, plugin] of [
      ['a-b', 'c'],
      ['a', 'b-c'],
    ]) {
      await world.version('acme', plugin, '1.0.0', { secrets: [{ name: 'api', property: 'value' }] });
      await put(session, input(`secret of ${plugin}`), `${plugin}/api`, { tenant });
      await world.install(tenant, plugin);
    }
    const [first, second] = [await world.phase('a-b', 'c', 'ACTIVE'), await world.phase('a', 'b-c', 'ACTIVE')];
    expect(first.status!.namespace).not.toBe(second.status!.namespace);
    const claims = async (namespace: string) =>
      JSON.parse(Buffer.from((await world.token(namespace)).split('.')[1], 'base64url').toString()) as { sub: string };
    expect((await claims(first.status!.namespace!)).sub).toBe('plugin:c:a-b');
    expect((await claims(second.status!.namespace!)).sub).toBe('plugin:b-c:a');
  });

  it('names of the greatest length are installed, each name within its bounds', async () => {
    await world.version('acme', LONG_PLUGIN, '1.0.0');
    await world.install(LONG_TENANT, LONG_PLUGIN);
    const { status } = await world.phase(LONG_TENANT, LONG_PLUGIN, 'ACTIVE');
    expect(status!.namespace!.length).toBeLessThanOrEqual(63);
  });

  it('a tag that moves after verification moves nothing, and what it points at now does not run', async () => {
    const image = await world.version('acme', 'moved', '1.0.0');
    await world.install('school', 'moved');
    await world.phase('school', 'moved', 'ACTIVE');
    const digest = world.push('acme', 'moved', '1.0.0', 'something else');
    await world.sign('acme', 'moved', '1.0.0');
    const annotations = { [RECHECK_ANNOTATION]: 'now' };
    await world.client.resource(PluginVersionKind).patch('acme.moved.1.0.0', { type: 'merge', patch: { metadata: { annotations } } });
    await world.tenants.eventually(async () => (await version('acme.moved.1.0.0')).status?.observedRecheck === 'now');
    expect((await version('acme.moved.1.0.0')).status?.image).toBe(image);
    const { items } = await world.client.resource<KubeObject>(Deployment, 'plugin-school-moved').list();
    expect(items.map(({ spec }) => spec.template.spec.containers[0].image as string)).toEqual([image]);
    const spec = { ...items[0].spec.template.spec, containers: [{ ...items[0].spec.template.spec.containers[0] }] };
    spec.containers[0].image = `${image.split('@')[0]}@${digest}`;
    const made = world.client.resource<KubeObject>(Pod, 'plugin-school-moved').create({ metadata: { name: 'swapped' }, spec });
    await expect(made).rejects.toThrow('it is no version of this plugin');
  });

  it('an image that nobody signed fails at once, is told, and recovers when it is signed and published again', async () => {
    world.push('acme', 'late', '1.0.0', 'late');
    const name = await publish('late', () => {});
    await world.install('school', 'late', { version: '1.0.0' });
    const { status } = await world.phase('school', 'late', 'FAILED');
    expect(status).toMatchObject({ reason: 'SignatureInvalid', imageStatus: 'ImagePullBackOff' });
    expect(await world.find('plugin-school-late')).toBeUndefined();
    const told = await world.tenants.eventually(async () => {
      const { items } = await world.client.resource<KubeObject>(Event, 'school').list();
      return items.find((each) => each.regarding?.name === 'late' && each.reason === 'SignatureInvalid');
    });
    expect(told).toMatchObject({ type: 'Warning', note: expect.stringContaining('acme.late.1.0.0') });

    await world.sign('acme', 'late', '1.0.0');
    const annotations = { [RECHECK_ANNOTATION]: 'again' };
    await world.client.resource(PluginVersionKind).patch(name, { type: 'merge', patch: { metadata: { annotations } } });
    const active = await world.phase('school', 'late', 'ACTIVE');
    expect(active.status!.imageStatus).toBe('Running');
    // Whether it was looked at before or after the version was, it fails before it is anywhere.
    const transitions = await world.tenants.eventually(async () => {
      const told = (await world.transitions('school', 'late')).filter((each) => !each.startsWith('NEW -> INSTALLING'));
      return told.includes('INSTALLING -> ACTIVE') ? told : undefined;
    });
    expect(transitions[0]).toMatch(/-> FAILED$/);
    expect(transitions.slice(1)).toEqual(['FAILED -> INSTALLING', 'INSTALLING -> ACTIVE']);
  });

  it('every transition is a line in the audit log: the Event that tells it, and the state that is written', async () => {
    interface Line {
      verb: string;
      user: { username: string };
      objectRef?: { resource: string; subresource?: string; namespace?: string; name?: string };
    }
    const transitions = await world.transitions('school', 'late');
    const own = await world.tenants.eventually(async () => {
      const lines = readFileSync(join((world.target as EmbeddedTarget).data, 'audit.log'), 'utf8')
        .trim()
        .split('\n');
      const found = lines
        .map((line) => JSON.parse(line) as Line)
        .filter(({ user, objectRef }) => user.username === PLUGINS_USER && objectRef?.namespace === 'school');
      const told = found.filter(({ verb, objectRef }) => verb === 'create' && objectRef!.resource === 'events');
      return told.length >= transitions.length ? found : undefined;
    });
    const states = own.filter(({ objectRef }) => objectRef!.resource === 'plugininstallations' && objectRef!.name === 'late');
    expect(states.some(({ objectRef }) => objectRef!.subresource === 'status')).toBe(true);
  });
});
