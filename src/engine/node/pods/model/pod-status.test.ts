import { describe, expect, test } from 'vitest';
import type { PodSpec, PodStatus, Probe } from '../../../../kube/generated/core-v1.ts';
import { aContainer, aPod, aSidecar, findings, runsOf, START, UID, type RunSketch } from '../testing/a-pod.ts';
import { podStatus, type StatusFacts } from './pod-status.ts';

const probe: Probe = { tcpSocket: { port: 1 } };
const NOW = new Date('2026-01-01T00:01:00Z');

interface Sketch extends Partial<Omit<StatusFacts, 'runs' | 'probes' | 'pod' | 'waiting'>> {
  spec?: Partial<PodSpec>;
  before?: PodStatus;
  runs?: Record<string, RunSketch | RunSketch[]>;
  probes?: Parameters<typeof findings>[0];
  waiting?: Record<string, { reason: string; message?: string }>;
  deleted?: boolean;
}

function statusOf({ spec, before, runs = {}, probes, waiting = {}, deleted, ...rest }: Sketch): PodStatus {
  const metadata = deleted ? { deletionTimestamp: '2026-01-01T00:02:00Z' } : {};
  return podStatus({
    pod: aPod(spec, before, metadata),
    runs: runsOf(runs),
    probes: findings(probes),
    waiting: new Map(Object.entries(waiting)),
    driver: 'process',
    ended: false,
    conditions: [],
    sandboxReady: true,
    podIps: ['10.1.0.7'],
    hostIps: ['192.0.2.1'],
    missingIsolation: [],
    now: NOW,
    ...rest,
  });
}

const condition = (status: PodStatus, type: string) => status.conditions?.find((candidate) => candidate.type === type);
const container = (status: PodStatus, name = 'c') =>
  [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].find((candidate) => candidate.name === name);

describe('podStatus, containers', () => {
  test('before the first start they are being created', () => {
    expect(container(statusOf({}))).toEqual({
      name: 'c',
      image: 'app:1',
      imageID: '',
      ready: false,
      started: false,
      restartCount: 0,
      state: { waiting: { reason: 'ContainerCreating' } },
      lastState: {},
    });
  });

  test('wait for initialization', () => {
    const status = statusOf({ spec: { initContainers: [aContainer('i')] }, runs: { i: 'running' } });
    expect(container(status)?.state).toEqual({ waiting: { reason: 'PodInitializing' } });
    expect(container(status, 'i')?.state).toEqual({ running: { startedAt: '2026-01-01T00:00:00Z' } });
  });

  test('come sorted by name, init containers in their order', () => {
    const spec = { containers: [aContainer('b'), aContainer('a')], initContainers: [aContainer('z'), aContainer('y')] };
    const status = statusOf({ spec });
    expect(status.containerStatuses!.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(status.initContainerStatuses!.map(({ name }) => name)).toEqual(['z', 'y']);
  });

  test('that ended show how, and the run before as well', () => {
    const status = statusOf({ spec: { restartPolicy: 'Never' }, runs: { c: [2, 1] } });
    expect(container(status)).toMatchObject({
      restartCount: 1,
      state: {
        terminated: {
          exitCode: 2,
          reason: 'Error',
          startedAt: '2026-01-01T00:00:00Z',
          finishedAt: '2026-01-01T00:00:05Z',
          containerID: `process://${UID}.c.1`,
        },
      },
      lastState: { terminated: { exitCode: 1, containerID: `process://${UID}.c.0` } },
    });
  });

  test('that wait to be started again show their end as the last state', () => {
    const waiting = { c: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } };
    expect(container(statusOf({ runs: { c: 1 }, waiting }))).toMatchObject({
      state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } },
      lastState: { terminated: { exitCode: 1 } },
    });
  });

  test.each<[string, Sketch]>([
    ['that will not be started again do not wait', { spec: { restartPolicy: 'Never' }, runs: { c: 1 } }],
    ['of a Pod that is deleted do not wait', { deleted: true, runs: { c: 1 } }],
  ])('%s', (_name, sketch) => {
    const status = statusOf({ ...sketch, waiting: { c: { reason: 'CrashLoopBackOff' } } });
    expect(container(status)?.state?.terminated?.exitCode).toBe(1);
  });

  test('that wait for their image wait', () => {
    const status = statusOf({ waiting: { c: { reason: 'ErrImagePull', message: 'no such image' } } });
    expect(container(status)?.state).toEqual({ waiting: { reason: 'ErrImagePull', message: 'no such image' } });
    expect(status.phase).toBe('Pending');
  });

  test.each<[string, Partial<Parameters<typeof aContainer>[1]>, Parameters<typeof findings>[0], boolean, boolean]>([
    ['without probes', {}, {}, true, true],
    ['whose startup probe has not spoken', { startupProbe: probe }, {}, false, false],
    ['whose startup probe has succeeded', { startupProbe: probe }, { c: { startup: true } }, true, true],
    ['whose readiness probe has not spoken', { readinessProbe: probe }, {}, true, false],
    ['whose readiness probe has succeeded', { readinessProbe: probe }, { c: { readiness: true } }, true, true],
    ['whose readiness probe has failed', { readinessProbe: probe }, { c: { readiness: false } }, true, false],
    [
      'whose readiness is known before it started',
      { startupProbe: probe, readinessProbe: probe },
      { c: { readiness: true } },
      false,
      false,
    ],
  ])('%s', (_name, probes, found, started, ready) => {
    const status = statusOf({ spec: { containers: [aContainer('c', probes)] }, runs: { c: 'running' }, probes: found });
    expect(container(status)).toMatchObject({ started, ready });
  });

  test('an init container is ready when it has succeeded', () => {
    const status = statusOf({ spec: { initContainers: [aContainer('i')] }, runs: { i: 0 } });
    expect(container(status, 'i')).toMatchObject({ ready: true, started: false });
  });
});

describe('podStatus, conditions', () => {
  test('name what is not ready', () => {
    const spec = { containers: [aContainer('a'), aContainer('b', { readinessProbe: probe })] };
    const status = statusOf({ spec, runs: { a: 'running', b: 'running' } });
    const expected = { status: 'False', reason: 'ContainersNotReady', message: 'containers with unready status: [b]' };
    expect(condition(status, 'ContainersReady')).toMatchObject(expected);
    expect(condition(status, 'Ready')).toMatchObject(expected);
  });

  test('name what is not initialized', () => {
    const status = statusOf({ spec: { initContainers: [aContainer('i'), aSidecar('s')] }, runs: { i: 0 } });
    expect(condition(status, 'Initialized')).toMatchObject({
      status: 'False',
      reason: 'ContainersNotInitialized',
      message: 'containers with incomplete status: [s]',
    });
  });

  test('a sidecar that starts again does not undo initialization', () => {
    const status = statusOf({ spec: { initContainers: [aSidecar('s')] }, runs: { s: 1, c: 'running' } });
    expect(condition(status, 'Initialized')?.status).toBe('True');
    expect(condition(status, 'Ready')).toMatchObject({ status: 'False', message: 'containers with unready status: [s]' });
  });

  const gate = (status: string) => ({ conditions: [{ type: 'example.com/open', status }] });
  test.each<[string, PodStatus, string, string | undefined]>([
    ['a gate that nobody opened', {}, 'False', 'corresponding condition of pod readiness gate "example.com/open" does not exist.'],
    ['a gate that is closed', gate('False'), 'False', 'the status of pod readiness gate "example.com/open" is not "True", but False'],
    ['a gate that is open', gate('True'), 'True', undefined],
  ])('%s', (_name, before, expected, message) => {
    const status = statusOf({ spec: { readinessGates: [{ conditionType: 'example.com/open' }] }, before, runs: { c: 'running' } });
    expect(condition(status, 'Ready')).toMatchObject({ status: expected, ...(message ? { message } : {}) });
    expect(condition(status, 'ContainersReady')?.status).toBe('True');
  });

  test('of others are kept as they are', () => {
    const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: '2025-01-01T00:00:00Z' };
    expect(condition(statusOf({ before: { conditions: [scheduled] } }), 'PodScheduled')).toEqual(scheduled);
  });

  test('keep the time of their last change', () => {
    const before = { conditions: [{ type: 'Initialized', status: 'True', lastTransitionTime: '2025-01-01T00:00:00Z' }] };
    const status = statusOf({ before, runs: { c: 'running' } });
    expect(condition(status, 'Initialized')?.lastTransitionTime).toBe('2025-01-01T00:00:00Z');
    expect(condition(status, 'Ready')?.lastTransitionTime).toBe('2026-01-01T00:01:00Z');
  });

  test('say what is not isolated', () => {
    expect(condition(statusOf({ missingIsolation: ['seccomp', 'cgroups'] }), 'tenantry.dev/Isolated')).toMatchObject({
      status: 'False',
      reason: 'IsolationMissing',
      message: 'not isolated on this node: seccomp, cgroups',
    });
    expect(condition(statusOf({}), 'tenantry.dev/Isolated')?.status).toBe('True');
  });

  test.each<[string, RunSketch, string]>([
    ['a success', 0, 'PodCompleted'],
    ['a failure', 1, 'PodFailed'],
  ])('after %s', (_name, exit, reason) => {
    const status = statusOf({ spec: { restartPolicy: 'Never' }, runs: { c: exit }, ended: true });
    expect(condition(status, 'Ready')).toMatchObject({ status: 'False', reason });
  });
});

describe('podStatus, phase and addresses', () => {
  test.each<[string, Sketch, string]>([
    ['a Pod never leaves a terminal phase', { before: { phase: 'Succeeded' }, runs: { c: 'running' } }, 'Succeeded'],
    ['a failure shows when nothing runs', { failure: { reason: 'Evicted', message: 'm' }, runs: { c: 143 } }, 'Failed'],
    [
      'a failure does not show while something runs',
      { before: { phase: 'Running' }, failure: { reason: 'Evicted', message: 'm' }, runs: { c: 'running' } },
      'Running',
    ],
    ['what ended before it ran has failed', { ended: true }, 'Failed'],
    ['what ended while it was to be restarted has failed', { ended: true, runs: { c: 1 } }, 'Failed'],
    ['what ended well has succeeded, whatever the policy', { ended: true, runs: { c: 0 } }, 'Succeeded'],
    [
      'a Pod of the life before has not run yet',
      { spec: { initContainers: [aSidecar('s')] }, runs: { s: 'running', c: { exit: 137, stale: true } } },
      'Running',
    ],
  ])('%s', (_name, sketch, phase) => {
    expect(statusOf(sketch).phase).toBe(phase);
  });

  test('a failure gives its reason', () => {
    expect(statusOf({ failure: { reason: 'Evicted', message: 'low on memory' } })).toMatchObject({
      reason: 'Evicted',
      message: 'low on memory',
    });
  });

  test('the reason of a phase stays with it', () => {
    const before = { phase: 'Failed' as const, reason: 'Evicted', message: 'low on memory' };
    expect(statusOf({ before })).toMatchObject({ phase: 'Failed', reason: 'Evicted', message: 'low on memory' });
    expect(statusOf({ before: { ...before, phase: 'Pending' }, runs: { c: 'running' } })).not.toHaveProperty('reason');
  });

  test('addresses are kept when the network has let go of them', () => {
    const before = { podIP: '10.1.0.9', podIPs: [{ ip: '10.1.0.9' }] };
    expect(statusOf({ before, podIps: [] })).toMatchObject({ podIP: '10.1.0.9', podIPs: [{ ip: '10.1.0.9' }], hostIP: '192.0.2.1' });
  });

  test('the start is remembered', () => {
    expect(statusOf({}).startTime).toBe('2026-01-01T00:01:00Z');
    expect(statusOf({ before: { startTime: START.toISOString() } }).startTime).toBe(START.toISOString());
  });
});
