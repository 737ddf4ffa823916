import { describe, expect, test } from 'vitest';
import type { PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import type { PluginVersion } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { withRevision } from './history.ts';
import { wantedVersion } from './wanted-version.ts';

type Status = NonNullable<PluginInstallation['status']>;

const installation = (spec: Partial<PluginInstallation['spec']>, status: Status = {}): PluginInstallation => ({
  apiVersion: 'plugins.tenantry.dev/v1alpha1',
  kind: 'PluginInstallation',
  metadata: { name: 'hello', namespace: 'school' },
  spec: { publisher: 'acme', plugin: 'hello', ...spec },
  status,
});
const published = (version: string, phase = 'VERIFIED', contract: string[] = []): PluginVersion =>
  ({ spec: { version, manifest: { spec: { database: { migrations: { path: 'm', contract } } } } }, status: { phase } }) as never;
const revision = (version: string, isKnownGood = true) => ({ version, image: 'x', since: '', isKnownGood });
const versions = [published('1.0.0'), published('1.10.0'), published('1.9.0'), published('2.0.0-rc.1'), published('2.0.0', 'SIGNED')];

describe('wantedVersion', () => {
  test.each<[string, PluginInstallation, string]>([
    ['the newest verified one when none is named', installation({}), '1.10.0'],
    ['what is there rather than a newer one', installation({}, { target: { version: '1.0.0' } }), '1.0.0'],
    ['what is asked for', installation({ version: '1.9.0' }, { target: { version: '1.0.0' } }), '1.9.0'],
    [
      'the last known-good one after a rollback',
      installation(
        { version: '1.10.0', rollback: { request: 1 } },
        { target: { version: '1.10.0' }, history: [revision('1.0.0'), revision('1.9.0'), revision('1.10.0')] },
      ),
      '1.9.0',
    ],
    [
      'the one before a version that never became healthy',
      installation({ rollback: { request: 1 } }, { target: { version: '1.10.0' }, history: [revision('1.9.0')] }),
      '1.9.0',
    ],
    [
      'no version that a rollback left before',
      installation(
        { rollback: { request: 2 } },
        { observedRollback: 1, target: { version: '1.0.0' }, history: [revision('0.9.0'), revision('1.9.0', false), revision('1.0.0')] },
      ),
      '0.9.0',
    ],
    [
      'the same again while the request is the same',
      installation(
        { rollback: { request: 1 } },
        { observedRollback: 1, target: { version: '1.9.0' }, history: [revision('1.0.0'), revision('1.9.0')] },
      ),
      '1.9.0',
    ],
    [
      'the known-good one that the rollback names',
      installation(
        { rollback: { request: 1, to: '1.0.0' } },
        { target: { version: '1.10.0' }, history: [revision('1.0.0'), revision('1.9.0')] },
      ),
      '1.0.0',
    ],
  ])('is %s', (_, given, version) => {
    expect(wantedVersion(given, versions)).toEqual({ version });
  });

  test.each<[string, PluginInstallation, PluginVersion[], string, string]>([
    ['nothing is verified', installation({}), [published('1.0.0', 'DRAFT')], 'VersionNotFound', 'publish one'],
  ])('is refused when %s', (_, given, all, reason, message) => {
    expect(wantedVersion(given, all)).toEqual({ reason, message: expect.stringContaining(message) });
  });
});

test('wantedVersion of a rollback is not refused for what the version before took away itself', () => {
  const given = installation(
    { rollback: { request: 1 } },
    { target: { version: '1.9.0' }, history: [revision('1.0.0'), revision('1.9.0')] },
  );
  const all = [published('1.0.0', 'VERIFIED', ['002_drop.sql']), published('1.9.0', 'VERIFIED', ['002_drop.sql'])];
  expect(wantedVersion(given, all)).toEqual({ version: '1.0.0' });
});

describe('wantedVersion of a rollback that is refused stays where it is, and says why', () => {
  test.each<[string, PluginInstallation, PluginVersion[], string, string]>([
    [
      'nothing was healthy before',
      installation({ rollback: { request: 1 } }, { target: { version: '1.0.0' }, history: [revision('1.0.0')] }),
      versions,
      'NoKnownGood',
      'known good: 1.0.0',
    ],
    [
      'the named one was never healthy',
      installation({ rollback: { request: 1, to: '3.0.0' } }, { history: [revision('1.0.0')] }),
      versions,
      'NoKnownGood',
      '3.0.0 was never healthy',
    ],
    [
      'its database was contracted since',
      installation({ rollback: { request: 1 } }, { target: { version: '1.9.0' }, history: [revision('1.0.0'), revision('1.9.0')] }),
      [published('1.0.0'), published('1.9.0', 'VERIFIED', ['002_drop.sql'])],
      'RollbackForbidden',
      '1.9.0 took away',
    ],
  ])('%s', (_, given, all, reason, message) => {
    const wanted = wantedVersion(given, all);
    expect(wanted).toMatchObject({ refusal: { reason, message: expect.stringContaining(message) } });
    expect(wanted).toHaveProperty('version', given.status?.target?.version ?? given.spec.version ?? '1.10.0');
  });
  const left = { target: { version: '1.0.0' }, version: '1.0.0', history: [revision('1.9.0'), revision('1.0.0')], refusedRollback: 2 };
  test('until somebody asks with another number', () => {
    expect(wantedVersion(installation({ version: '1.9.0', rollback: { request: 2 } }, left), versions)).toEqual({ version: '1.0.0' });
    expect(wantedVersion(installation({ version: '1.9.0', rollback: { request: 3 } }, left), versions)).toEqual({ version: '1.9.0' });
  });
  test('unless what is there was taken back', () => {
    const rejected = { version: '1.10.0', reason: 'x', message: '', at: '' };
    const given = installation({ rollback: { request: 2 } }, { ...left, target: { version: '1.10.0' }, rejected });
    expect(wantedVersion(given, versions)).toEqual({ version: '1.0.0' });
  });
});

test('wantedVersion of a rollback counts no migrations that were never applied', () => {
  const status = { version: '1.0.0', target: { version: '1.9.0' }, history: [revision('1.0.0')] };
  const all = [published('1.0.0'), published('1.9.0', 'VERIFIED', ['002_drop.sql'])];
  expect(wantedVersion(installation({ rollback: { request: 1 } }, status), all)).toEqual({ version: '1.0.0' });
  const deployed = { ...status, target: { version: '1.9.0', isDeployed: true } };
  expect(wantedVersion(installation({ rollback: { request: 1 } }, deployed), all)).toMatchObject({
    refusal: { reason: 'RollbackForbidden' },
  });
});

test('wantedVersion does not try again what was taken back, however it is written', () => {
  const rejected = { version: '1.9.0', reason: 'x', message: '', at: '' };
  const given = installation({ version: '1.9.0+build.7' }, { version: '1.0.0', rejected });
  expect(wantedVersion(given, versions)).toEqual({ version: '1.0.0' });
});

describe('withRevision', () => {
  const at = (version: string, isRollback = false) => ({
    version,
    image: `i@${version}`,
    now: Date.parse('2026-01-01T00:00:00Z'),
    isRollback,
  });
  test('changes nothing for the version that is at work', () => {
    const history = withRevision([], at('1.0.0'));
    expect(withRevision(history, at('1.0.0'))).toBe(history);
  });
  test('ends the one before, as not good when a rollback left it', () => {
    const history = withRevision(withRevision(withRevision([], at('1.0.0')), at('1.1.0')), at('1.0.0', true));
    expect(history.map(({ version, isKnownGood, until }) => [version, isKnownGood, until !== undefined])).toEqual([
      ['1.0.0', true, true],
      ['1.1.0', false, true],
      ['1.0.0', true, false],
    ]);
  });
  test('keeps the last twenty', () => {
    let history = withRevision([], at('1.0.0'));
    for (let minor = 1; minor < 30; minor++) history = withRevision(history, at(`1.${minor}.0`));
    expect(history.map(({ version }) => version)).toEqual(Array.from({ length: 20 }, (_, index) => `1.${index + 10}.0`));
  });
});
