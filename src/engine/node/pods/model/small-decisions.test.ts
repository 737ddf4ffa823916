import { describe, expect, test } from 'vitest';
import type { Container, PodSpec, SecurityContext } from '../../../../kube/generated/core-v1.ts';
import { aContainer, aPod, aSidecar, UID } from '../testing/a-pod.ts';
import { whyRefused, type NodeAbilities } from './admission.ts';
import { runsFromStatus } from './container-runs.ts';
import { podLimits, resourceLimits, securitySpec, userOf } from './container-spec.ts';
import { endsAfter, graceSeconds } from './grace-period.ts';
import { loggedRun } from './log-source.ts';
import type { KillReason } from './pod-actions.ts';
import { fieldPathOf } from './pod-object.ts';

describe('whyRefused', () => {
  const node: NodeAbilities = { driver: 'process', os: 'linux', diskPressure: false, memoryPressure: false };
  const privileged = { containers: [aContainer('c', { securityContext: { privileged: true } })] };
  test.each<[string, Partial<PodSpec>, Partial<NodeAbilities>, string | undefined]>([
    ['an ordinary Pod is taken', {}, {}, undefined],
    ['the network of the machine is fine', { hostNetwork: true }, {}, undefined],
    ['another operating system', { os: { name: 'windows' } }, {}, 'PodOSNotSupported'],
    ['the same operating system', { os: { name: 'linux' } }, {}, undefined],
    ['a shared process namespace', { shareProcessNamespace: true }, {}, 'UnexpectedAdmissionError'],
    ['a user namespace', { hostUsers: false }, {}, 'UnexpectedAdmissionError'],
    ['another runtime', { runtimeClassName: 'gvisor' }, {}, 'UnexpectedAdmissionError'],
    ['no user namespace', { hostUsers: true }, {}, undefined],
    ['a privileged process', privileged, {}, 'UnexpectedAdmissionError'],
    ['a privileged container', privileged, { driver: 'oci' }, undefined],
    ['a full disk', {}, { diskPressure: true }, 'Evicted'],
    ['a full disk, but the system needs it', { priority: 2_000_001_000 }, { diskPressure: true }, undefined],
    ['little memory, and nothing promised', {}, { memoryPressure: true }, 'Evicted'],
    ['little memory, but it does not mind', { tolerations: [{ operator: 'Exists' }] }, { memoryPressure: true }, undefined],
  ])('%s', (_name, spec, abilities, reason) => {
    expect(whyRefused(aPod(spec), { ...node, ...abilities })?.reason).toBe(reason);
  });
});

describe('graceSeconds', () => {
  const probe = (seconds?: number) => ({ terminationGracePeriodSeconds: seconds });
  test.each<[string, KillReason, Partial<Container>, number | undefined, number]>([
    ["the Pod's own", 'podEnds', {}, undefined, 30],
    ["the deletion's", 'podEnds', {}, 7, 7],
    ['a deletion comes before a probe', 'livenessProbe', { livenessProbe: probe(3) }, 7, 7],
    ["the liveness probe's", 'livenessProbe', { livenessProbe: probe(3) }, undefined, 3],
    ["the startup probe's", 'startupProbe', { startupProbe: probe(4) }, undefined, 4],
    ['a probe that says nothing', 'livenessProbe', { livenessProbe: probe() }, undefined, 30],
    ['the probe that failed counts', 'startupProbe', { livenessProbe: probe(3) }, undefined, 30],
  ])('%s', (_name, reason, container, deletionGracePeriodSeconds, seconds) => {
    const pod = aPod({}, {}, { deletionGracePeriodSeconds });
    expect(graceSeconds(pod, aContainer('c', container), reason)).toBe(seconds);
  });
});

test.each([
  ['a', []],
  ['i', []],
  ['s1', ['a', 'b', 's2']],
  ['s2', ['a', 'b']],
])('endsAfter: %s ends after %j', (name, others) => {
  const pod = aPod({ containers: [aContainer('a'), aContainer('b')], initContainers: [aSidecar('s1'), aContainer('i'), aSidecar('s2')] });
  expect(endsAfter(pod, name)).toEqual(others);
});

describe('resourceLimits', () => {
  test.each<[string, Container['resources'], object]>([
    ['nothing said', undefined, { cpuShares: 2, pids: 1024 }],
    ['a request', { requests: { cpu: '250m' } }, { cpuShares: 256, pids: 1024 }],
    [
      'limits alone count as requests',
      { limits: { cpu: '2', memory: '64Mi' } },
      { cpuShares: 2048, cpuMillis: 2000, memoryBytes: 67_108_864, pids: 1024 },
    ],
    ['both', { requests: { cpu: '1' }, limits: { cpu: '1500m' } }, { cpuShares: 1024, cpuMillis: 1500, pids: 1024 }],
  ])('%s', (_name, resources, limits) => {
    expect(resourceLimits({ resources })).toEqual(limits);
  });

  test('of a Pod are sums, and the largest of what runs alone', () => {
    const limits = (cpu: string, memory: string) => ({ resources: { limits: { cpu, memory } } });
    const spec: PodSpec = {
      containers: [aContainer('a', limits('1', '1Gi')), aContainer('b', limits('500m', '1Gi'))],
      initContainers: [aSidecar('s', limits('500m', '1Gi')), aContainer('i', limits('4', '1Gi'))],
    };
    expect(podLimits(spec)).toMatchObject({ cpuMillis: 4000, memoryBytes: 3 * 1024 ** 3, pids: 3072 });
  });

  test('of a Pod are what it says itself', () => {
    expect(podLimits({ containers: [aContainer('a')], resources: { limits: { memory: '1Gi', cpu: '2' } } })).toMatchObject({
      memoryBytes: 1024 ** 3,
      cpuMillis: 2000,
    });
  });

  test('of a Pod are absent when one container has none', () => {
    expect(
      podLimits({ containers: [aContainer('a', { resources: { limits: { memory: '1Gi' } } }), aContainer('b')] }).memoryBytes,
    ).toBeUndefined();
  });
});

describe('security', () => {
  test.each<[string, PodSpec['securityContext'], SecurityContext | undefined, unknown]>([
    ['nothing said is filtered', undefined, undefined, { type: 'RuntimeDefault' }],
    ['privileged is not', undefined, { privileged: true }, { type: 'Unconfined' }],
    [
      "the container's word counts",
      { seccompProfile: { type: 'Unconfined' } },
      { seccompProfile: { type: 'RuntimeDefault' } },
      { type: 'RuntimeDefault' },
    ],
    [
      'a profile of the machine',
      { seccompProfile: { type: 'Localhost', localhostProfile: 'p.json' } },
      undefined,
      { type: 'Localhost', profile: 'p.json' },
    ],
  ])('%s', (_name, securityContext, own, seccomp) => {
    expect(securitySpec({ containers: [], securityContext }, own).seccomp).toEqual(seccomp);
  });

  test('the user of a container comes before that of its Pod', () => {
    const securityContext = { runAsUser: 1, runAsGroup: 2, fsGroup: 9, supplementalGroups: [8, 9], runAsNonRoot: true };
    expect(userOf({ containers: [], securityContext }, { runAsUser: 5, runAsNonRoot: false })).toEqual({
      uid: 5,
      gid: 2,
      groups: [8, 9],
      mustNotBeRoot: false,
    });
    expect(userOf({ containers: [] }, undefined)).toEqual({ groups: [], mustNotBeRoot: false });
  });
});

describe('loggedRun', () => {
  const status = (state: object, lastState: object = {}) => ({
    name: 'c',
    image: '',
    imageID: '',
    ready: false,
    restartCount: 0,
    containerID: 'process://now',
    state,
    lastState,
  });
  const ended = (id: string) => ({ terminated: { exitCode: 1, containerID: `process://${id}` } });
  test.each<[string, ReturnType<typeof status> | undefined, boolean, string]>([
    ['runs', status({ running: {} }), false, 'now'],
    ['has ended', status(ended('then')), false, 'then'],
    ['waits to be restarted', status({ waiting: { reason: 'CrashLoopBackOff' } }, ended('before')), false, 'before'],
    ['ran before', status({ running: {} }, ended('before')), true, 'before'],
  ])('a container that %s', (_name, given, previous, id) => {
    expect(loggedRun(given, 'web', 'c', previous)).toBe(id);
  });

  test.each<[string, ReturnType<typeof status> | undefined, boolean, string]>([
    ['that is unknown', undefined, false, 'container "c" in pod "web" is not available'],
    ['that ran only once', status({ running: {} }), true, 'previous terminated container "c" in pod "web" not found'],
    [
      'that is being created',
      status({ waiting: { reason: 'ContainerCreating' } }),
      false,
      'container "c" in pod "web" is waiting to start: ContainerCreating',
    ],
    [
      'without an image',
      status({ waiting: { reason: 'ErrImagePull' } }),
      false,
      'container "c" in pod "web" is waiting to start: image can\'t be pulled',
    ],
    [
      'that waits for an image',
      status({ waiting: { reason: 'ImagePullBackOff' } }),
      false,
      'container "c" in pod "web" is waiting to start: trying and failing to pull image',
    ],
  ])('a container %s', (_name, given, previous, message) => {
    expect(() => loggedRun(given, 'web', 'c', previous)).toThrow(message);
  });
});

describe('runsFromStatus', () => {
  const now = new Date('2026-02-02T00:00:00Z');
  const status = (state: object, lastState: object = {}, restartCount = 0) => ({
    containerStatuses: [{ name: 'c', image: 'i', imageID: 'i@sha256:1', ready: false, restartCount, state, lastState }],
  });
  const terminated = { exitCode: 3, reason: 'Error', startedAt: '2026-01-01T00:00:00Z', finishedAt: '2026-01-01T00:00:05Z' };
  test.each<[string, object, object | undefined]>([
    ['what never ran is new', status({ waiting: { reason: 'ContainerCreating' } }), undefined],
    ['what ended has ended', status({ terminated }, {}, 2), { attempt: 2, end: { exitCode: 3, reason: 'Error' } }],
    [
      'what waits after an end has ended',
      status({ waiting: { reason: 'CrashLoopBackOff' } }, { terminated }, 1),
      { attempt: 1, end: { exitCode: 3 } },
    ],
    [
      'what ran and is not there any more is lost',
      status({ running: { startedAt: '2026-01-01T00:00:00Z' } }),
      { end: { exitCode: 137, reason: 'ContainerStatusUnknown' } },
    ],
  ])('%s', (_name, given, run) => {
    const runs = runsFromStatus(aPod({}, given), new Set(), now);
    expect(runs).toHaveLength(run ? 1 : 0);
    if (run) expect(runs[0]).toMatchObject(run);
  });

  test('what the driver knows is left to it', () => {
    expect(runsFromStatus(aPod({}, status({ running: {} })), new Set([`${UID}.c.0`]), now)).toEqual([]);
  });
});

test('an event names the container by its place in the Pod', () => {
  const { spec } = aPod({ initContainers: [aContainer('i')], ephemeralContainers: [aContainer('e')] });
  expect(['c', 'i', 'e', 'x'].map((name) => fieldPathOf(spec!, name))).toEqual([
    'spec.containers{c}',
    'spec.initContainers{i}',
    'spec.ephemeralContainers{e}',
    undefined,
  ]);
});
