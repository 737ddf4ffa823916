import { expect, test } from 'vitest';
import { followedVersion } from './followed-version.ts';

const AVAILABLE: [string, string][] = [
  ['1.0.0', 'VERIFIED'],
  ['1.0.1', 'VERIFIED'],
  ['1.1.0', 'VERIFIED'],
  ['1.2.0-rc.1', 'VERIFIED'],
  ['1.3.0', 'REVOKED'],
  ['1.4.0', 'SIGNED'],
  ['2.0.0', 'VERIFIED'],
];

interface Case {
  mode?: string;
  spec?: object;
  status?: object;
  metadata?: object;
  versions?: [string, string][];
}

function follow({ mode = 'minor-auto', spec = {}, status = {}, metadata = {}, versions = AVAILABLE }: Case): string | undefined {
  const installation = {
    metadata: { generation: 1, ...metadata },
    spec: { publisher: 'acme', plugin: 'hello', ...spec },
    status: { phase: 'ACTIVE', version: '1.0.0', observedGeneration: 1, ...status },
  };
  const found = versions.map(([version, phase]) => ({ spec: { version }, status: { phase } }));
  return followedVersion(installation as never, found as never, mode === 'none' ? undefined : ({ spec: { mode } } as never));
}

test.each<[string, Case, string | undefined]>([
  ['goes to the newest minor version that is finished and verified', {}, '1.1.0'],
  ['goes there by canary too', { mode: 'canary' }, '1.1.0'],
  ['goes to a patch', { versions: [['1.0.1', 'VERIFIED']] }, '1.0.1'],
  ['stays when it is pinned', { mode: 'pinned' }, undefined],
  ['stays without a policy', { mode: 'none' }, undefined],
  ['never goes down', { status: { version: '1.5.0' } }, undefined],
  ['never goes below what is asked for', { spec: { version: '1.2.0' } }, undefined],
  ['counts from what is asked for, across a major version', { spec: { version: '2.0.0' } }, undefined],
  [
    'stays inside the major version at work when the next one was taken back',
    {
      spec: { version: '2.0.0' },
      status: { rejected: { version: '2.0.0' } },
      versions: [
        ['2.0.1', 'VERIFIED'],
        ['1.1.0', 'VERIFIED'],
      ],
    },
    undefined,
  ],
  ['leaves a pre-release for the finished version', { status: { version: '1.1.0-rc.1' } }, '1.1.0'],
  ['stays where a rollback led', { spec: { rollback: { request: 1 } } }, undefined],
  ['does not try again what was taken back', { status: { rejected: { version: '1.1.0' } } }, '1.0.1'],
  [
    'does not try again what a rollback left',
    { status: { version: '1.0.1', history: [{ version: '1.1.0', isKnownGood: false }] } },
    undefined,
  ],
  ['waits for what is on its way', { status: { phase: 'UPGRADING' } }, undefined],
  ['waits until the last request was seen', { metadata: { generation: 2 } }, undefined],
  ['waits for the first installation', { status: { version: undefined, phase: 'FAILED' } }, undefined],
  ['leads out of a failed upgrade', { spec: { version: '1.0.1' }, status: { phase: 'FAILED' } }, '1.1.0'],
  ['lets go what is uninstalled', { metadata: { deletionTimestamp: 'x' } }, undefined],
  [
    'takes minor versions before 1.0.0 for breaking',
    {
      status: { version: '0.1.0' },
      versions: [
        ['0.1.5', 'VERIFIED'],
        ['0.2.0', 'VERIFIED'],
      ],
    },
    '0.1.5',
  ],
])('followedVersion %s', (_, given, expected) => {
  expect(follow(given)).toBe(expected);
});
