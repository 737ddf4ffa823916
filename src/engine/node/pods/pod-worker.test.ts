import { afterEach, describe, expect, test } from 'vitest';
import { ContainerError } from '../drivers/driver.ts';
import { ImageError } from '../images/images.ts';
import { VolumeError } from '../volumes/pod-volumes.ts';
import type { PodObject } from './model/pod-object.ts';
import { aContainer, aPod, aSidecar, UID } from './testing/a-pod.ts';
import { pullFails, ScriptedNode } from './testing/scripted-node.ts';

let node: ScriptedNode;
afterEach(() => node.close());

async function aNodeWith(pod: PodObject, prepare: (node: ScriptedNode) => void = () => {}): Promise<ScriptedNode> {
  node = new ScriptedNode(pod);
  prepare(node);
  await node.begin();
  return node;
}

describe('a Pod that starts', () => {
  test('runs, and one write says it all', async () => {
    await aNodeWith(aPod());
    expect(node.driver.started).toEqual(['c.0']);
    expect(node.writes).toHaveLength(1);
    expect(node.status).toMatchObject({ phase: 'Running', podIP: '10.1.0.7', hostIP: '192.0.2.1', startTime: '2026-01-01T00:00:00Z' });
    expect(node.state('c')).toMatchObject({
      ready: true,
      started: true,
      restartCount: 0,
      containerID: `process://${UID}.c.0`,
      image: 'docker.io/library/app:1',
      imageID: 'docker.io/library/app@sha256:1',
      state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
    });
    for (const type of ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady']) expect(node.condition(type)).toBe('True');
    expect(node.condition('tenantry.dev/Isolated')).toBe('False');
    expect(node.events).toEqual([
      'Normal Pulled Container image "app:1" already present on machine and can be accessed by the pod',
      'Normal Created Container created',
      'Normal Started Container started',
    ]);
  });

  test('says that it is being created when it takes long', async () => {
    let pulled = () => {};
    await aNodeWith(aPod(), (it) => {
      const { ensureImage } = it;
      it.ensureImage = async (request) => {
        await new Promise<void>((resolve) => (pulled = resolve));
        return ensureImage(request);
      };
    });
    expect(node.writes).toHaveLength(0);
    await node.advance(500);
    expect(node.state('c').state).toEqual({ waiting: { reason: 'ContainerCreating' } });
    expect(node.status.phase).toBe('Pending');
    pulled();
    await node.settle();
    expect(node.status.phase).toBe('Running');
  });

  test('waits for its volumes, and says why', async () => {
    const problem = new VolumeError('FailedMount', 'MountVolume.SetUp failed for volume "v" : configmap "x" not found');
    await aNodeWith(aPod(), (it) => (it.setUpVolumes = () => Promise.reject(problem)));
    expect(node.driver.started).toEqual([]);
    expect(node.events[0]).toBe(`Warning FailedMount ${problem.message}`);
    node.setUpVolumes = () => Promise.resolve();
    await node.advance(1000);
    expect(node.status.phase).toBe('Running');
  });

  test('is refused when the node cannot do what it asks for', async () => {
    await aNodeWith(aPod({ shareProcessNamespace: true }));
    expect(node.driver.started).toEqual([]);
    expect(node.status).toMatchObject({ phase: 'Failed', reason: 'UnexpectedAdmissionError' });
    expect(node.status.message).toContain('shareProcessNamespace');
    expect(node.status.containerStatuses).toBeUndefined();
    await node.restart();
    await node.advance(1000);
    expect(node.status.containerStatuses).toBeUndefined();
  });

  test('is tried again later when its container cannot be made', async () => {
    await aNodeWith(aPod(), (it) => (it.driver.refusal = () => new ContainerError('CreateContainerError', 'no space')));
    expect(node.state('c').state).toEqual({ waiting: { reason: 'CreateContainerError', message: 'no space' } });
    expect(node.status.phase).toBe('Pending');
    node.driver.refusal = () => undefined;
    await node.advance(10_000);
    expect(node.status.phase).toBe('Running');
  });

  test('shows how a container ended that could not be run, and holds it back', async () => {
    const refusal = () => new ContainerError('StartError', 'exec: "nope": executable file not found in $PATH');
    await aNodeWith(aPod(), (it) => (it.driver.refusal = refusal));
    await node.settle();
    const terminated = { exitCode: 128, reason: 'StartError', startedAt: '1970-01-01T00:00:00Z' };
    expect(node.state('c')).toMatchObject({ lastState: { terminated }, state: { waiting: { reason: 'CrashLoopBackOff' } } });
    expect(node.state('c').restartCount).toBe(1);
  });

  test('has failed when its container could not be run and is not to be restarted', async () => {
    const refusal = () => new ContainerError('StartError', 'not found');
    await aNodeWith(aPod({ restartPolicy: 'Never' }), (it) => (it.driver.refusal = refusal));
    await node.settle();
    expect(node.status.phase).toBe('Failed');
    expect(node.state('c').state.terminated).toMatchObject({ exitCode: 128, reason: 'StartError', message: 'not found' });
  });
});

describe('images', () => {
  test('that cannot be pulled are backed off from, in the words of a kubelet', async () => {
    await aNodeWith(aPod(), (it) => (it.ensureImage = pullFails('no such image')));
    expect(node.state('c').state).toEqual({ waiting: { reason: 'ErrImagePull', message: 'no such image' } });
    expect(node.events).toEqual([
      'Normal Pulling Pulling image "app:1"',
      'Warning Failed Failed to pull image "app:1": no such image',
      'Warning Failed Error: ErrImagePull',
    ]);
    await node.advance(2000);
    expect(node.state('c').state.waiting).toEqual({
      reason: 'ImagePullBackOff',
      message: 'Back-off pulling image "app:1": ErrImagePull: no such image',
    });
    expect(node.events).toContain('Normal BackOff Back-off pulling image "app:1"');
    const pulls = () => node.events.filter((event) => event.startsWith('Normal Pulling')).length;
    await node.advance(9000);
    expect(pulls()).toBe(2);
    await node.advance(15_000);
    expect(pulls()).toBe(2);
    await node.advance(7000);
    expect(pulls()).toBe(3);
  });

  test('that are not here and must not be pulled are not', async () => {
    const container = aContainer('c', { imagePullPolicy: 'Never' });
    await aNodeWith(aPod({ containers: [container] }), (it) => (it.ensureImage = pullFails('asked')));
    expect(node.state('c').state.waiting).toEqual({
      reason: 'ErrImageNeverPull',
      message: 'Container image "app:1" is not present with pull policy of Never',
    });
  });

  test('with a name that is none are told of in the words of a kubelet, said once', async () => {
    const message = 'Failed to apply default image tag "App:1": couldn\'t parse image name "App:1": invalid reference format';
    await aNodeWith(aPod(), (it) => (it.ensureImage = () => Promise.reject(new ImageError('InvalidImageName', message))));
    await node.advance(500);
    expect(node.state('c').state).toEqual({ waiting: { reason: 'InvalidImageName', message } });
    expect(node.events).toContain(`Warning InspectFailed ${message}`);
  });

  test('are asked for again with Always, though they are here', async () => {
    await aNodeWith(aPod({ containers: [aContainer('c', { imagePullPolicy: 'Always' })] }));
    expect(node.events[0]).toBe('Normal Pulling Pulling image "app:1"');
    expect(node.events[1]).toMatch(/^Normal Pulled Successfully pulled image "app:1" in 0s/);
  });

  test('being pulled for a Pod that is deleted are given up', async () => {
    let given: AbortSignal | undefined;
    await aNodeWith(aPod({ containers: [aContainer('c', { imagePullPolicy: 'Always' })] }), (it) => {
      it.ensureImage = ({ signal }) => {
        given = signal;
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
      };
    });
    await node.delete();
    expect(given!.aborted).toBe(true);
    expect(node.deleted).toEqual([UID]);
    expect(node.status.phase).toBe('Failed');
  });
});

describe('a container that ends', () => {
  test('is restarted at once, then with growing pauses', async () => {
    await aNodeWith(aPod());
    await node.endContainer('c', 1);
    expect(node.driver.started).toEqual(['c.0', 'c.1']);
    expect(node.state('c')).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 1, reason: 'Error' } } });
    await node.endContainer('c', 1, 1);
    expect(node.state('c').state.waiting).toEqual({
      reason: 'CrashLoopBackOff',
      message: `back-off 10s restarting failed container=c pod=web_shop(${UID})`,
    });
    expect(node.condition('Ready')).toBe('False');
    expect(node.status.phase).toBe('Running');
    await node.advance(9000);
    expect(node.driver.started).toHaveLength(2);
    await node.advance(1000);
    expect(node.driver.started).toHaveLength(3);
    await node.endContainer('c', 1, 2);
    expect(node.state('c').state.waiting.message).toContain('back-off 20s restarting');
  });

  test('has its pauses forgotten after ten good minutes', async () => {
    await aNodeWith(aPod());
    await node.endContainer('c', 1);
    await node.clock.advance(601_000);
    await node.endContainer('c', 1, 1);
    expect(node.driver.started).toEqual(['c.0', 'c.1', 'c.2']);
  });

  test('leaves its last words', async () => {
    await aNodeWith(aPod({ restartPolicy: 'Never' }));
    const [mount] = node.driver.specOf(`${UID}.c.0`).mounts.filter(({ target }) => target === '/dev/termination-log');
    node.files.messages.set(mount.source, 'out of coffee');
    await node.endContainer('c', 1);
    expect(node.state('c').state.terminated).toMatchObject({ message: 'out of coffee', reason: 'Error' });
    expect(node.status.phase).toBe('Failed');
  });

  test('leaves the end of its log where it asks for that', async () => {
    const container = aContainer('c', { terminationMessagePolicy: 'FallbackToLogsOnError' });
    await aNodeWith(aPod({ restartPolicy: 'Never', containers: [container] }));
    await node.endContainer('c', 1);
    expect(node.state('c').state.terminated.message).toBe('the last line\n');
  });

  test('for want of memory says so', async () => {
    await aNodeWith(aPod({ restartPolicy: 'Never' }));
    node.driver.end(`${UID}.c.0`, 137, true);
    await node.settle();
    expect(node.state('c').state.terminated).toMatchObject({ reason: 'OOMKilled', exitCode: 137 });
  });

  test('completes a Pod, of which nothing is left on the node but its logs', async () => {
    await aNodeWith(aPod({ restartPolicy: 'Never' }));
    await node.endContainer('c', 0);
    await node.advance(500);
    expect(node.status.phase).toBe('Succeeded');
    expect(node.state('c').state.terminated.reason).toBe('Completed');
    expect(node.condition('PodReadyToStartContainers')).toBe('False');
    expect(node.driver.removed).toEqual(['c.0']);
    expect(node.driver.sandboxes.size + node.attached.size).toBe(0);
    expect(node.deleted).toEqual([]);
    expect(node.status.podIP).toBe('10.1.0.7');
  });

  test('two runs are remembered, not more', async () => {
    await aNodeWith(aPod());
    await node.endContainer('c', 1);
    await node.endContainer('c', 2, 1);
    await node.advance(10_000);
    expect(node.driver.removed).toEqual(['c.0']);
    expect(node.state('c')).toMatchObject({ restartCount: 2, lastState: { terminated: { exitCode: 2 } } });
  });
});

describe('init containers and sidecars', () => {
  test('come one after the other', async () => {
    await aNodeWith(aPod({ initContainers: [aContainer('i1'), aContainer('i2')] }));
    expect(node.driver.started).toEqual(['i1.0']);
    expect(node.state('c').state.waiting.reason).toBe('PodInitializing');
    await node.endContainer('i1', 0);
    expect(node.driver.started).toEqual(['i1.0', 'i2.0']);
    expect(node.condition('Initialized')).toBe('False');
    await node.endContainer('i2', 0);
    expect(node.driver.started).toEqual(['i1.0', 'i2.0', 'c.0']);
    expect(node.condition('Initialized')).toBe('True');
    expect(node.condition('Ready')).toBe('True');
  });

  test('one that fails is tried again', async () => {
    await aNodeWith(aPod({ initContainers: [aContainer('i')] }));
    await node.endContainer('i', 1);
    expect(node.driver.started).toEqual(['i.0', 'i.1']);
    await node.endContainer('i', 1, 1);
    expect(node.state('i').state.waiting.reason).toBe('CrashLoopBackOff');
    expect(node.status.phase).toBe('Pending');
  });

  test('one that fails where nothing is restarted fails the Pod', async () => {
    await aNodeWith(aPod({ restartPolicy: 'Never', initContainers: [aContainer('i')] }));
    await node.endContainer('i', 1);
    expect(node.status.phase).toBe('Failed');
    expect(node.driver.started).toEqual(['i.0']);
  });

  test('a sidecar goes on beside the main containers, and ends after them, the last first', async () => {
    await aNodeWith(aPod({ initContainers: [aSidecar('s1'), aSidecar('s2')] }));
    expect(node.driver.started).toEqual(['s1.0', 's2.0', 'c.0']);
    expect(node.status.phase).toBe('Running');
    await node.delete();
    expect(node.driver.signals.map(([name]) => name)).toEqual(['c', 's2', 's1']);
    expect(node.deleted).toEqual([UID]);
  });

  test('a sidecar does not hold up the end of a Job', async () => {
    await aNodeWith(aPod({ restartPolicy: 'Never', initContainers: [aSidecar('s')] }));
    await node.endContainer('c', 0);
    expect(node.driver.signals).toEqual([['s', 'SIGTERM']]);
    expect(node.status.phase).toBe('Succeeded');
  });
});

describe('a Pod that is deleted', () => {
  test('ends, and is taken out of the API with its last status written', async () => {
    await aNodeWith(aPod());
    await node.delete();
    expect(node.driver.signals).toEqual([['c', 'SIGTERM']]);
    expect(node.events).toContain('Normal Killing Stopping container c');
    expect(node.status.phase).toBe('Failed');
    expect(node.state('c').state.terminated).toMatchObject({ exitCode: 143 });
    expect(node.driver.removed).toEqual(['c.0']);
    expect(node.driver.sandboxes.size + node.attached.size).toBe(0);
    expect(node.deleted).toEqual([UID]);
    node.worker.remove(node.api);
    await node.settle();
    expect(node.gone).toBe(true);
  });

  test('ends though the deletion came with the answer to a write of its own', async () => {
    await aNodeWith(aPod());
    node.changeUnseen((pod) => {
      pod.metadata.deletionTimestamp = new Date(node.clock.now()).toISOString();
      pod.metadata.deletionGracePeriodSeconds = 0;
    });
    const seenLate = node.api;
    // The write is answered with the newest Pod, before the watch tells of it.
    await node.endContainer('c', 1);
    node.worker.update(seenLate);
    await node.advance(5000);
    expect(node.deleted).toEqual([UID]);
  });

  test('is killed when its time is over', async () => {
    await aNodeWith(aPod(), (it) => (it.driver.onSignal = (_name, signal) => (signal === 'SIGKILL' ? 137 : undefined)));
    await node.delete(5);
    await node.advance(4000);
    expect(node.deleted).toEqual([]);
    await node.advance(1000);
    expect(node.driver.signals).toEqual([
      ['c', 'SIGTERM'],
      ['c', 'SIGKILL'],
    ]);
    expect(node.deleted).toEqual([UID]);
  });

  test('is killed sooner when it is deleted again with less time', async () => {
    await aNodeWith(aPod(), (it) => (it.driver.onSignal = (_name, signal) => (signal === 'SIGKILL' ? 137 : undefined)));
    await node.delete(300);
    await node.advance(1000);
    await node.delete(3);
    await node.advance(3000);
    expect(node.deleted).toEqual([UID]);
  });

  test('is killed though it is gone from the API already', async () => {
    await aNodeWith(aPod(), (it) => (it.driver.onSignal = (_name, signal) => (signal === 'SIGKILL' ? 137 : undefined)));
    const last = structuredClone(node.api);
    last.metadata.deletionGracePeriodSeconds = 0;
    last.metadata.resourceVersion = '99';
    node.worker.remove(last);
    await node.settle();
    expect(node.driver.signals).toEqual([['c', 'SIGTERM']]);
    await node.advance(2000);
    expect(node.gone).toBe(true);
    expect(node.deleted).toEqual([]);
    expect(node.driver.removed).toEqual(['c.0']);
  });

  test('has its preStop hook run first', async () => {
    const container = aContainer('c', { lifecycle: { preStop: { exec: { command: ['bye'] } } } });
    let done = () => {};
    await aNodeWith(aPod({ containers: [container] }), (it) => {
      it.driver.exec_ = () => new Promise((resolve) => (done = () => resolve({ exitCode: 0, output: '' })));
    });
    await node.delete();
    expect(node.driver.executed).toEqual([['c', ['bye']]]);
    expect(node.driver.signals).toEqual([]);
    done();
    await node.settle();
    expect(node.driver.signals).toEqual([['c', 'SIGTERM']]);
  });

  test('does not wait for a preStop hook beyond its time', async () => {
    const container = aContainer('c', { lifecycle: { preStop: { sleep: { seconds: 60 } } } });
    await aNodeWith(aPod({ containers: [container] }));
    await node.delete(4);
    await node.advance(3000);
    expect(node.driver.signals).toEqual([]);
    await node.advance(1000);
    expect(node.driver.signals).toEqual([['c', 'SIGTERM']]);
    expect(node.deleted).toEqual([UID]);
  });

  test('before it ever ran has failed', async () => {
    await aNodeWith(aPod(), (it) => (it.setUpVolumes = () => Promise.reject(new VolumeError('FailedMount', 'no'))));
    await node.delete();
    expect(node.status.phase).toBe('Failed');
    expect(node.deleted).toEqual([UID]);
  });

  test('is not started again when a container ends meanwhile', async () => {
    await aNodeWith(aPod({ containers: [aContainer('a'), aContainer('b')] }), (it) => {
      it.driver.onSignal = (name, signal) => (name === 'a' ? 0 : signal === 'SIGKILL' ? 137 : undefined);
    });
    await node.delete(10);
    await node.advance(3000);
    expect(node.driver.started).toEqual(['a.0', 'b.0']);
  });
});

describe('hooks, deadlines and evictions', () => {
  test('a container whose postStart hook fails is killed', async () => {
    const container = aContainer('c', { lifecycle: { postStart: { exec: { command: ['hi'] } } } });
    await aNodeWith(aPod({ containers: [container] }), (it) => (it.driver.exec_ = () => ({ exitCode: 3, output: 'no' })));
    expect(node.events).toContain('Warning FailedPostStartHook PostStartHook failed');
    expect(node.events).toContain('Normal Killing FailedPostStartHook');
    expect(node.driver.signals[0]).toEqual(['c', 'SIGTERM']);
  });

  test('a Pod ends when its time is over', async () => {
    await aNodeWith(aPod({ activeDeadlineSeconds: 5 }));
    await node.advance(4000);
    expect(node.status.phase).toBe('Running');
    await node.advance(1000);
    expect(node.status).toMatchObject({
      phase: 'Failed',
      reason: 'DeadlineExceeded',
      message: 'Pod was active on the node longer than the specified deadline',
    });
    expect(node.driver.signals).toEqual([['c', 'SIGTERM']]);
  });

  test('volumes follow the labels of their Pod, once for each change', async () => {
    const labels: unknown[] = [];
    await aNodeWith(aPod(), (it) => {
      it.setUpVolumes = async ({ metadata }) => void labels.push(metadata.labels?.['app']);
    });
    for (const app of ['one', 'one', 'two']) {
      await node.change(({ metadata }) => {
        metadata.labels = { app };
      });
    }
    expect(labels).toEqual([undefined, 'one', 'two']);
  });

  test('a Pod that is evicted has failed when it has ended, not before', async () => {
    await aNodeWith(aPod(), (it) => (it.driver.onSignal = (_name, signal) => (signal === 'SIGKILL' ? 137 : undefined)));
    const message = 'The node was low on resource: memory. ';
    expect(node.worker.isEnding).toBe(false);
    node.worker.evict('Evicted', message, { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message });
    await node.settle();
    expect([node.status.phase, node.worker.isEnding]).toEqual(['Running', true]);
    await node.advance(30_000);
    expect(node.status).toMatchObject({ phase: 'Failed', reason: 'Evicted', message });
    expect(node.condition('DisruptionTarget')).toBe('True');
    expect(node.events).toContain(`Warning Evicted ${message}`);
  });

  test('a Pod that is deleted while a probe has one of its containers killed takes no longer than it may', async () => {
    const livenessProbe = { exec: { command: ['ok?'] }, periodSeconds: 1, failureThreshold: 1 };
    await aNodeWith(aPod({ terminationGracePeriodSeconds: 600, containers: [aContainer('c', { livenessProbe })] }), (it) => {
      it.driver.exec_ = () => ({ exitCode: 1, output: 'sick' });
      it.driver.onSignal = (_name, signal) => (signal === 'SIGKILL' ? 137 : undefined);
    });
    await node.advance(1000);
    expect(node.driver.signals).toEqual([['c', 'SIGTERM']]);
    await node.delete(3);
    await node.advance(3000);
    expect(node.deleted).toEqual([UID]);
    expect(node.driver.started).toEqual(['c.0']);
  });

  test('a container whose liveness probe fails is restarted', async () => {
    const livenessProbe = { exec: { command: ['ok?'] }, periodSeconds: 1, failureThreshold: 2 };
    await aNodeWith(aPod({ containers: [aContainer('c', { livenessProbe })] }), (it) => {
      it.driver.exec_ = () => ({ exitCode: 1, output: 'sick' });
    });
    await node.advance(2000);
    expect(node.events).toContain('Warning Unhealthy Liveness probe failed: sick');
    expect(node.events).toContain('Normal Killing Container c failed liveness probe, will be restarted');
    expect(node.driver.started).toEqual(['c.0', 'c.1']);
  });

  test('a container is ready when its readiness probe says so', async () => {
    const readinessProbe = { exec: { command: ['ok?'] }, periodSeconds: 1, failureThreshold: 1 };
    let exitCode = 1;
    await aNodeWith(aPod({ containers: [aContainer('c', { readinessProbe })] }), (it) => {
      it.driver.exec_ = () => ({ exitCode, output: '' });
    });
    expect(node.condition('Ready')).toBe('False');
    exitCode = 0;
    await node.advance(1000);
    expect(node.condition('Ready')).toBe('True');
    exitCode = 1;
    await node.advance(1000);
    expect(node.condition('Ready')).toBe('False');
    expect(node.driver.started).toEqual(['c.0']);
  });
});

describe('an agent that takes over', () => {
  test('starts nothing that runs, and keeps what is known', async () => {
    await aNodeWith(aPod());
    await node.endContainer('c', 1);
    const before = structuredClone(node.status);
    await node.restart();
    expect(node.driver.started).toEqual(['c.0', 'c.1']);
    expect(node.status).toEqual(before);
    await node.endContainer('c', 1, 1);
    expect(node.driver.started).toEqual(['c.0', 'c.1', 'c.2']);
    expect(node.state('c').restartCount).toBe(2);
  });

  test('follows the policy for what ended meanwhile', async () => {
    await aNodeWith(aPod({ restartPolicy: 'Never' }));
    node.worker.release();
    node.driver.end(`${UID}.c.0`, 4);
    await node.restart();
    expect(node.status.phase).toBe('Failed');
    expect(node.state('c').state.terminated.exitCode).toBe(4);
    expect(node.driver.started).toEqual(['c.0']);
  });

  test('ends what was deleted meanwhile', async () => {
    await aNodeWith(aPod());
    node.worker.release();
    node.api = structuredClone(node.api);
    node.api.metadata.deletionTimestamp = '2026-01-01T00:00:30Z';
    node.api.metadata.deletionGracePeriodSeconds = 30;
    await node.restart();
    expect(node.driver.signals).toEqual([['c', 'SIGTERM']]);
    expect(node.deleted).toEqual([UID]);
  });

  test('takes a container that it cannot find for ended', async () => {
    await aNodeWith(aPod());
    await node.worker.shutDown();
    node.api = structuredClone(node.api);
    await node.restart({ sandboxLives: false });
    expect(node.driver.started).toEqual(['c.0', 'c.1']);
    expect(node.state('c')).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 143 } } });
  });

  test('does not run a Pod a second time that must run once', async () => {
    await aNodeWith(aPod({ restartPolicy: 'Never' }));
    node.worker.release();
    node.driver.end(`${UID}.c.0`, 0);
    await node.driver.remove(`${UID}.c.0`);
    await node.restart();
    expect(node.driver.started).toEqual(['c.0']);
    expect(node.status.phase).toBe('Failed');
    expect(node.state('c').state.terminated).toMatchObject({ exitCode: 137, reason: 'ContainerStatusUnknown' });
  });

  test('starts nothing while it is still looking', async () => {
    await aNodeWith(aPod());
    const containers = await node.driver.list();
    node.worker.release();
    node.replaceWorker();
    await node.change((pod) => (pod.metadata.labels = { changed: 'yes' }));
    expect(node.driver.started).toEqual(['c.0']);
    await node.begin({ containers, sandboxLives: true });
    expect(node.driver.started).toEqual(['c.0']);
    expect(node.status.phase).toBe('Running');
  });

  test('keeps a Pod ready that was', async () => {
    const readinessProbe = { exec: { command: ['ok?'] }, periodSeconds: 10 };
    await aNodeWith(aPod({ containers: [aContainer('c', { readinessProbe })] }));
    expect(node.condition('Ready')).toBe('True');
    const writes = node.writes.length;
    await node.restart();
    await node.advance(1000);
    expect(node.condition('Ready')).toBe('True');
    expect(node.writes).toHaveLength(writes);
  });
});

describe('a clean stop', () => {
  test('does not wait longer than half a minute, however long a Pod may take', async () => {
    const pod = aPod();
    pod.spec!.terminationGracePeriodSeconds = 3600;
    await aNodeWith(pod, (it) => (it.driver.onSignal = (_name, signal) => (signal === 'SIGKILL' ? 137 : undefined)));
    const done = node.worker.shutDown();
    await node.advance(30_000);
    await done;
    expect(node.driver.signals).toEqual([
      ['c', 'SIGTERM'],
      ['c', 'SIGKILL'],
    ]);
  });

  test('ends containers, leaves nothing behind and the Pod in the API', async () => {
    await aNodeWith(aPod());
    await node.worker.shutDown();
    expect(node.driver.signals).toEqual([['c', 'SIGTERM']]);
    expect(node.driver.removed).toEqual(['c.0']);
    expect(node.driver.sandboxes.size + node.attached.size).toBe(0);
    expect(node.deleted).toEqual([]);
    expect(node.status.phase).toBe('Running');
    expect(node.state('c').state.terminated.exitCode).toBe(143);
  });

  test('begins a Pod again from its first init container', async () => {
    await aNodeWith(aPod({ initContainers: [aContainer('i')] }));
    await node.endContainer('i', 0);
    await node.worker.shutDown();
    await node.restart({ sandboxLives: false });
    expect(node.driver.started).toEqual(['i.0', 'c.0', 'i.1']);
    await node.endContainer('i', 0, 1);
    expect(node.driver.started).toEqual(['i.0', 'c.0', 'i.1', 'c.1']);
  });
});

describe('an API that does not answer', () => {
  test('is told again', async () => {
    await aNodeWith(aPod(), (it) => (it.patchFailure = () => new Error('connection refused')));
    expect(node.writes).toHaveLength(0);
    node.patchFailure = undefined;
    await node.advance(1000);
    expect(node.status.phase).toBe('Running');
  });
});
