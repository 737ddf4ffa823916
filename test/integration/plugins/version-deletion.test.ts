import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PluginInstallationKind } from '../../../src/api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { PluginVersionKind } from '../../../src/api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { PluginWorld } from './plugin-world.ts';

describe('a PluginVersion', { timeout: 60_000 }, () => {
  let world: PluginWorld;
  let stopKubelet: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    world = await PluginWorld.start();
    await world.publisher('acme', 'acme');
    await world.tenants.tenant('school');
    await world.tenants.node('worker');
    stopKubelet = world.tenants.playKubelet(['plugin-school-hello']);
  }, 60_000);
  afterAll(async () => {
    await stopKubelet?.();
    await world?.stop();
  }, 60_000);

  it('cannot be deleted while an installation runs it, and can when none does', async () => {
    const versions = world.client.resource(PluginVersionKind);
    await world.version('acme', 'hello', '1.0.0');
    await world.version('acme', 'hello', '1.1.0');
    await world.install('school', 'hello', { version: '1.0.0' });
    await world.phase('school', 'hello', 'ACTIVE');
    await expect(versions.delete('acme.hello.1.0.0')).rejects.toThrow(
      'Cannot delete version "acme.hello.1.0.0": school/hello run it or may go back to it',
    );
    await versions.delete('acme.hello.1.1.0');
    await world.client.resource(PluginInstallationKind, 'school').delete('hello');
    await world.tenants.eventually(async () => (await world.find('plugin-school-hello')) === undefined);
    await world.tenants.eventually(() =>
      versions.delete('acme.hello.1.0.0').then(
        () => true,
        () => false,
      ),
    );
  });
});
