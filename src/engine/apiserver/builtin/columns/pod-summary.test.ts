import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../kube/object.ts';
import { summarizePod } from './pod-summary.ts';

const NOW = new Date('2024-01-01T01:00:00Z');
const RUNNING = { state: { running: {} }, ready: true };

function summary(status: Json, fields: Json = {}): string {
  const pod = { metadata: {}, spec: { containers: [{ name: 'a' }, { name: 'b' }], ...fields.spec }, status, ...fields };
  const {
    ready,
    status: shown,
    restarts,
  } = summarizePod({ ...pod, spec: { containers: [{ name: 'a' }, { name: 'b' }], ...fields.spec } }, NOW);
  return `${ready} ${shown} ${restarts}`;
}

function ended(exitCode: number, fields: Json = {}): Json {
  return { state: { terminated: { exitCode, ...fields } } };
}

describe('the row of a Pod', () => {
  const init = { spec: { initContainers: [{ name: 'i' }, { name: 's', restartPolicy: 'Always' }] } };
  const restarted = { ...RUNNING, restartCount: 2, lastState: { terminated: { finishedAt: '2024-01-01T00:30:00Z' } } };
  const cases: [name: string, status: Json, fields: Json, expected: string][] = [
    ['running', { phase: 'Running', containerStatuses: [RUNNING, RUNNING] }, {}, '2/2 Running 0'],
    ['restarted', { phase: 'Running', containerStatuses: [restarted, RUNNING] }, {}, '2/2 Running 2 (30m ago)'],
    [
      'waiting',
      { phase: 'Pending', containerStatuses: [{ state: { waiting: { reason: 'CrashLoopBackOff' } } }] },
      {},
      '0/2 CrashLoopBackOff 0',
    ],
    ['ended by a signal', { phase: 'Failed', containerStatuses: [ended(0, { signal: 9 })] }, {}, '0/2 Signal:9 0'],
    ['initializing', { phase: 'Pending', initContainerStatuses: [{ name: 'i', state: {} }] }, init, '0/3 Init:0/2 0'],
    ['failed to initialize', { phase: 'Pending', initContainerStatuses: [{ name: 'i', ...ended(2) }] }, init, '0/3 Init:ExitCode:2 0'],
    ['done but for one', { phase: 'Running', containerStatuses: [ended(0, { reason: 'Completed' }), RUNNING] }, {}, '1/2 NotReady 0'],
    ['going', { phase: 'Running', containerStatuses: [RUNNING] }, { metadata: { deletionTimestamp: 'x' } }, '1/2 Terminating 0'],
    ['gated', { phase: 'Pending', conditions: [{ type: 'PodScheduled', reason: 'SchedulingGated' }] }, {}, '0/2 SchedulingGated 0'],
  ];
  test.each(cases)('%s', (_name, status, fields, expected) => expect(summary(status, fields)).toBe(expected));
});
