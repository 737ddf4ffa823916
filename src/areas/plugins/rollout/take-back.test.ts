import { expect, test } from 'vitest';
import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { takeBack } from './take-back.ts';

const breach = { reason: 'CrashLooping', message: 'it crashed' };
const installation = (status: object, spec: object = {}): PluginInstallation =>
  ({ metadata: {}, spec: { publisher: 'acme', plugin: 'hello', ...spec }, status }) as never;
const upgrading = { version: '1.0.0', target: { version: '1.1.0', isDeployed: true }, history: [{ version: '1.0.0', isKnownGood: true }] };
const contract = {
  spec: { version: '1.1.0', manifest: { spec: { database: { migrations: { path: 'm', contract: ['x.sql'] } } } } },
} as never;
const nothing = { versionsOf: () => [] };

test('takeBack remembers what was taken back, and why', () => {
  const given = installation(structuredClone(upgrading));
  expect(takeBack(nothing, given, breach, 0)).toMatchObject({ type: 'waiting', reason: 'TakingBack' });
  expect(given.status!.rejected).toMatchObject({
    version: '1.1.0',
    reason: 'CrashLooping',
    message: expect.stringContaining('1.0.0 is at work'),
  });
});

test('takeBack stalls, and says so, when the migrations of the new version forbid it', () => {
  const given = installation(structuredClone(upgrading));
  expect(takeBack({ versionsOf: () => [contract] }, given, breach, 0)).toMatchObject({
    type: 'stalled',
    reason: 'RollbackForbidden',
    message: expect.stringContaining('1.1.0 took away'),
  });
  expect(given.status!.rejected).toBeUndefined();
});

test('takeBack is not kept from it by migrations that were never applied', () => {
  const given = installation({ ...upgrading, target: { version: '1.1.0' } });
  expect(takeBack({ versionsOf: () => [contract] }, given, breach, 0)).toMatchObject({ type: 'waiting', reason: 'TakingBack' });
});

test('takeBack takes an upgrade back under a rollback that was refused', () => {
  const given = installation({ ...upgrading, refusedRollback: 1 }, { rollback: { request: 1 } });
  expect(takeBack(nothing, given, breach, 0)).toMatchObject({ type: 'waiting', reason: 'TakingBack' });
});

test.each<[string, PluginInstallation]>([
  ['a first installation', installation({ target: { version: '1.1.0' } })],
  ['the version at work', installation({ ...upgrading, version: '1.1.0' })],
  ['a rollback', installation(upgrading, { rollback: { request: 1 } })],
])('takeBack leaves %s alone', (_, given) => {
  expect(takeBack(nothing, given, breach, 0)).toBeUndefined();
});
