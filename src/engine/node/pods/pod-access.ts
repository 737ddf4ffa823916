import { access } from 'node:fs/promises';
import type { Duplex, Readable } from 'node:stream';
import type { Container } from '../../../kube/generated/core-v1.ts';
import { quote } from '../../../kube/go-text.ts';
import { badRequestError, failure, notFoundError } from '../../../kube/status.ts';
import type { Driver } from '../drivers/driver.ts';
import type { PodNetwork } from '../network/pod-network.ts';
import { readLog } from '../server/log-reader.ts';
import type { ContainerTarget, LogOptions, NodeUsage, PodAccess, PodTarget } from '../server/pod-access.ts';
import type { ProgramStreams } from '../shim/shim.ts';
import type { ContainerRun } from './model/container-runs.ts';
import { loggedRun } from './model/log-source.ts';
import { containerNamed, referenceTo } from './model/pod-object.ts';
import type { PodFiles } from './pod-files.ts';
import type { PodWorker } from './pod-worker.ts';
import type { PodWorkers } from './pod-workers.ts';
import type { UsageSampler } from './usage-sampler.ts';

export interface PodAccessOptions {
  workers: PodWorkers;
  driver: Pick<Driver, 'exec' | 'attach'>;
  network: Pick<PodNetwork, 'dial'>;
  files: PodFiles;
  usage: UsageSampler;
}

/** The way into the Pods of this node, for `kubectl logs`, `exec`, `attach`, `port-forward` and `top`. */
export function createPodAccess({ workers, driver, network, files, usage }: PodAccessOptions): PodAccess {
  const workerOf = ({ namespace, name, uid }: PodTarget): PodWorker => {
    const worker = workers.find(namespace, name, uid);
    if (!worker) throw notFoundError({ group: '', resource: 'pods' }, name);
    return worker;
  };
  const runningIn = (target: ContainerTarget): { run: ContainerRun; container: Container; worker: PodWorker } => {
    const worker = workerOf(target);
    const container = containerNamed(worker.pod.spec!, target.container);
    const run = worker.containers.runs.newest(target.container);
    if (!container || !run || run.end) throw failure('NotFound', `container not found (${quote(target.container)})`);
    return { run, container, worker };
  };
  return {
    async logs(target, options, signal) {
      return logStream(workerOf(target), target, options, signal, files);
    },
    async exec(target, command): Promise<ProgramStreams> {
      const { run } = runningIn(target);
      return driver.exec(run.id, command);
    },
    async attach(target) {
      const { run, container } = runningIn(target);
      return { streams: await driver.attach(run.id), terminal: container.tty ?? false, stdin: container.stdin ?? false };
    },
    async dial(target, port): Promise<Duplex> {
      const worker = workerOf(target);
      if (worker.containers.runs.running().length === 0) {
        throw badRequestError(`unable to forward port because pod is not running. Current status=${worker.pod.status?.phase ?? 'Pending'}`);
      }
      return network.dial(referenceTo(worker.pod), port);
    },
    usage: () => nodeUsage(workers, usage),
    pods: () => Promise.resolve([...workers.all()].map(({ pod }) => pod)),
  };
}

async function logStream(
  worker: PodWorker,
  target: ContainerTarget,
  options: LogOptions,
  signal: AbortSignal,
  files: PodFiles,
): Promise<Readable> {
  const { pod } = worker;
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = worker.status(pod);
  const status = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses].find(
    ({ name }) => name === target.container,
  );
  const id = loggedRun(status, pod.metadata.name!, target.container, options.previous);
  const attempt = Number(id.slice(id.lastIndexOf('.') + 1));
  const path = files.logPath(referenceTo(pod), target.container, attempt);
  const run = [...worker.containers.runs.all()].find((candidate) => candidate.id === id);
  // Who has not said anything yet has no file: only of a run that came to an end long ago does that mean that it was removed.
  if (!run) {
    await access(path).catch((cause: unknown) => {
      throw Object.assign(badRequestError(`unable to retrieve container logs for ${status?.containerID ?? id}`), { cause });
    });
  }
  return readLog({ path, options, signal, ended: run && !run.end ? worker.containers.whenEnded(target.container) : Promise.resolve() });
}

async function nodeUsage(workers: PodWorkers, usage: UsageSampler): Promise<NodeUsage> {
  const pods: NodeUsage['pods'] = [];
  const running = new Set<string>();
  for (const worker of workers.all()) {
    const containers: NodeUsage['pods'][number]['containers'] = [];
    for (const run of worker.containers.runs.running()) {
      running.add(run.id);
      const sample = await usage.container(run.id, run.startedAt);
      if (sample) containers.push({ ...sample, name: run.name });
    }
    const { namespace, name } = referenceTo(worker.pod);
    if (containers.length > 0) pods.push({ namespace, name, containers });
  }
  usage.keepOnly(running);
  return { node: await usage.node(), pods };
}
