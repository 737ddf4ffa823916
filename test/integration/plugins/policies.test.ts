import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PluginPolicyKind } from '../../../src/api/plugins.tenantry.dev/v1alpha1/plugin-policy.ts';
import { PluginVersionKind } from '../../../src/api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { policy } from '../../../src/cli/plugin/policy.ts';
import { findCondition } from '../../../src/kube/conditions.ts';
import { PluginWorld } from './plugin-world.ts';

describe('a PluginPolicy', { timeout: 60_000 }, () => {
  let world: PluginWorld;
  let stopKubelet: () => Promise<void>;
  const said: string[] = [];
  const session = () => world.session((text) => said.push(text));
  beforeAll(async () => {
    world = await PluginWorld.start();
    await world.publisher('acme', 'acme');
    await world.tenants.tenant('school');
    await world.tenants.node('worker');
    stopKubelet = world.tenants.playKubelet(['plugin-school-hello']);
    await world.version('acme', 'hello', '1.0.0');
    await world.install('school', 'hello', { version: '1.0.0' });
    await world.phase('school', 'hello', 'ACTIVE');
  }, 60_000);
  afterAll(async () => {
    await stopKubelet?.();
    await world?.stop();
  }, 60_000);

  const atWork = (version: string) =>
    world.until('school', 'hello', ({ status }) => status?.version === version && status.phase === 'ACTIVE');

  it('of the mode minor-auto takes an installation to a new version once that is verified, and never to another major', async () => {
    await world.version('acme', 'hello', '1.1.0');
    expect(await policy(session(), { tenant: 'school', mode: 'minor-auto' })).toBe(0);
    await atWork('1.1.0');
    await world.version('acme', 'hello', '2.0.0');
    await world.version('acme', 'hello', '1.2.0-rc.1');
    await world.version('acme', 'hello', '1.2.0', {}, 'foreign');
    await world.version('acme', 'hello', '1.1.1');
    const { spec } = await atWork('1.1.1');
    expect(spec.version).toBe('1.1.1');
    expect((await world.client.resource(PluginVersionKind).get('acme.hello.1.2.0')).status?.phase).not.toBe('VERIFIED');
    expect(await world.transitions('school', 'hello')).toContain('the policy "default" (minor-auto) takes it from 1.1.0 to 1.1.1');
  });

  it('of the mode pinned leaves it where it is', async () => {
    expect(await policy(session(), { tenant: 'school', mode: 'pinned', plugin: ['hello'] })).toBe(0);
    await world.version('acme', 'hello', '1.1.2');
    // A policy of another plugin makes the controller look at all of the tenant.
    expect(await policy(session(), { tenant: 'school', mode: 'minor-auto', plugin: ['other'] })).toBe(0);
    await world.tenants.eventually(async () => isInForce('other'));
    expect((await world.get('school', 'hello')).spec.version).toBe('1.1.1');
  });

  async function isInForce(name: string) {
    return findCondition((await world.client.resource(PluginPolicyKind, 'school').get(name)).status?.conditions, 'InForce');
  }

  it('that came later says which one holds what it asks for', async () => {
    const spec = { mode: 'canary' as const, plugins: ['hello'] };
    await world.client.resource(PluginPolicyKind, 'school').create({ metadata: { name: 'late' }, spec });
    const condition = await world.tenants.eventually(() => isInForce('late'));
    expect(condition).toMatchObject({ status: 'False', reason: 'Overridden', message: expect.stringContaining('"hello" holds "hello"') });
    await world.client.resource(PluginPolicyKind, 'school').delete('late');
  });

  it('is shown for the whole tenant and for one plugin, and taken away', async () => {
    said.length = 0;
    expect(await policy(session(), { tenant: 'school' })).toBe(0);
    expect(said.join('')).toMatch(/default +minor-auto +all others[\s\S]*hello +pinned +hello/);
    expect(await policy(session(), { tenant: 'school', mode: 'none', plugin: ['hello'] })).toBe(0);
    await atWork('1.1.2');
    await expect(policy(session(), { tenant: 'school', mode: 'sometimes' })).rejects.toThrow('pinned, minor-auto, canary or none');
    await expect(policy(session(), { tenant: 'school', mode: 'minor-auto', percent: '10' })).rejects.toThrow('belong to canary');
  });
});
