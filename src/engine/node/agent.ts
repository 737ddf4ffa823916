import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import type { Client } from '../../client/client.ts';
import { Pod, Service } from '../../client/kinds.ts';
import type { Container } from '../../kube/generated/core-v1.ts';
import { isStatusError } from '../../kube/status.ts';
import { longLivedController } from '../../lib/abort.ts';
import type { Random } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { SharedInformers } from '../../runtime/informer/shared-informers.ts';
import type { Driver } from './drivers/driver.ts';
import { podHostsFile, kernelHostname, podHostname } from './environment/hosts-file.ts';
import { podResolvConf } from './environment/resolv-conf.ts';
import { resolveEnvironment } from './environment/resolve-environment.ts';
import type { Images, RegistryCredential } from './images/images.ts';
import { credentialsFromDockerConfig } from './images/model/docker-config.ts';
import type { PodNetwork } from './network/pod-network.ts';
import { startContainer } from './pods/container-starter.ts';
import { Housekeeper } from './pods/housekeeper.ts';
import { ImagePuller } from './pods/image-puller.ts';
import { runHook } from './pods/lifecycle-hooks.ts';
import type { PodObject } from './pods/model/pod-object.ts';
import { createPodAccess } from './pods/pod-access.ts';
import { PodEventRecorder } from './pods/pod-events.ts';
import { PodFilesOnDisk, type NetworkFiles } from './pods/pod-files.ts';
import type { WorkerPorts } from './pods/pod-worker.ts';
import { PodWorkers } from './pods/pod-workers.ts';
import { setUpSandbox, tearDownSandbox, type SandboxPorts } from './pods/sandbox.ts';
import { UsageSampler } from './pods/usage-sampler.ts';
import { commandResult } from './probes/exec-command.ts';
import { hookRequest } from './probes/http-probe.ts';
import { Probes } from './probes/pod-probes.ts';
import { machineState, type MachineFacts } from './registration/machine-facts.ts';
import { nodeStatus, type NodeDescription } from './registration/describe-node.ts';
import { NodeRegistrar } from './registration/node-registrar.ts';
import { readLog } from './server/log-reader.ts';
import type { PodAccess } from './server/pod-access.ts';
import { createPodVolumes } from './volumes/create-pod-volumes.ts';
import { ReferencedObjects } from './volumes/referenced-objects.ts';

export interface AgentOptions {
  /** As `system:node:<name>`. */
  client: Client;
  clock: Clock;
  log: Log;
  random: Random;
  /** `<data>/node` */
  dir: string;
  machine: MachineFacts;
  /** What the Node says of itself; images and the server's port are added. */
  node: Omit<NodeDescription, 'images' | 'diskBytes' | 'machine' | 'podCidr'>;
  driver: Driver;
  images: Images;
  informers: SharedInformers;
  network: PodNetwork;
  hostPathPolicy: readonly string[];
  isRoot: boolean;
  /** Serves logs, exec and the rest. @returns the port */
  serve(access: PodAccess): Promise<number>;
}

export interface Agent {
  /** @param keepPods false: all Pods are ended and nothing is left on the machine. */
  stop(options: { keepPods: boolean }): Promise<void>;
}

/** The node: takes over what runs, follows the API, runs Pods. Resolves when it does. */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const { client, clock, log, dir, driver, images, informers, network, machine } = options;
  const stopping = longLivedController();
  const pods = informers.get<PodObject>(Pod, { fieldSelector: `spec.nodeName=${options.node.name}` });
  const services = informers.get(Service);
  const events = new PodEventRecorder({ client, log, nodeName: options.node.name });
  const files = new PodFilesOnDisk(dir, machine.bootId);
  const objects = new ReferencedObjects({ client, log });
  const [surroundings] = await Promise.all([hostFiles(), network.start(), services.whenSynced(stopping.signal)]);
  let serverPort: number | undefined;
  const describe = async (): Promise<NodeDescription> => ({
    ...options.node,
    machine,
    podCidr: network.podCidr,
    serverPort,
    diskBytes: (await machineState(dir)).disk.totalBytes,
    images: await images.list(),
  });
  let allocatable = nodeStatus(await describe()).allocatable!;

  const volumes = createPodVolumes({
    client,
    clock,
    log,
    dir,
    objects,
    hostPathPolicy: options.hostPathPolicy,
    isRoot: options.isRoot,
    node: { name: options.node.name, allocatable: () => allocatable, volumeFolder: options.node.volumeFolder },
    wake: (uid) => workers.get(uid)?.wake(),
    note: (pod, { type, reason, message }) => events.record(pod, type, reason, message),
    random: options.random,
  });
  const hostIps = [machine.address];
  const sandbox: SandboxPorts = {
    driver,
    network,
    volumes,
    files,
    events,
    hostIps,
    networkFiles: (pod, addresses) => networkFiles(pod, addresses, network, surroundings, events),
  };
  const probes = new Probes({ clock, random: options.random, events, driver });
  const environment = (pod: PodObject, container: Container, podIp: string) =>
    resolveEnvironment({ pod, container, services: services.list(), podIp, hostIp: hostIps[0], node: { allocatable }, read: objects });
  const puller = new ImagePuller({ images, events, clock, credentials: (pod) => pullCredentials(pod, objects) });
  const hooks = {
    clock,
    exec: async (runId: string, command: string[], signal: AbortSignal) =>
      commandResult(await driver.exec(runId, { command, terminal: false, stdin: false }), signal),
    httpGet: hookRequest,
  };
  const podIpOf = (pod: PodObject) => workers.get(pod.metadata.uid!)?.sandbox?.addresses[0] ?? '';
  const housekeeper = new Housekeeper({
    clock,
    log,
    images,
    volumes,
    workers: () => workers.all(),
    state: () => machineState(dir),
    pressureChanged: () => void registrar.changed().catch((error: unknown) => log.warn('cannot report pressure', { error })),
  });
  const ports: Omit<WorkerPorts, 'gone'> = {
    clock,
    log,
    driver,
    driverName: driver.name,
    missingIsolation: driver.missingIsolation,
    events,
    files,
    probes,
    hostIps,
    abilities: () => ({
      driver: driver.name,
      os: machine.os,
      diskPressure: housekeeper.pressure.disk,
      memoryPressure: housekeeper.pressure.memory,
    }),
    setUpSandbox: (pod) => setUpSandbox(sandbox, pod),
    tearDownSandbox: (uid) => tearDownSandbox(sandbox, uid),
    start: (pod, container, attempt, shared, signal) =>
      startContainer({ clock, driver, puller, volumes, files, events, environment }, pod, container, attempt, shared, signal),
    postStart: (pod, container, run, signal) =>
      runHook(hooks, { pod, container, runId: run.id, podIp: podIpOf(pod) }, container.lifecycle!.postStart!, signal),
    preStop: (pod, container, run, signal) =>
      runHook(hooks, { pod, container, runId: run.id, podIp: podIpOf(pod) }, container.lifecycle!.preStop!, signal),
    stopSignal: (_pod, container) => stopSignal(images, container),
    lastLines: (path) => lastLines(path),
    patchStatus: async (pod, status) => {
      const { name, namespace, uid } = pod.metadata;
      const patch = { metadata: { uid }, status };
      return client.resource(Pod, namespace).status.patch(name!, { type: 'strategic', patch });
    },
    deletePod: (pod) => deletePod(client, pod),
  };
  const workers = new PodWorkers({ clock, log, pods, driver, network, volumes, files, ports, signal: stopping.signal });
  const registrar = new NodeRegistrar({
    client,
    clock,
    log,
    describe: async () => {
      const node = await describe();
      allocatable = nodeStatus(node).allocatable!;
      const health = { pressure: housekeeper.pressure, policies: network.enforcesPolicies, missingIsolation: driver.missingIsolation };
      return { node, health };
    },
  });

  await housekeeper.start();
  await workers.start();
  const usage = new UsageSampler({ clock, driver, memoryInUse: async () => totalmem() - (await machineState(dir)).memoryAvailableBytes });
  serverPort = await options.serve(createPodAccess({ workers, driver, network, files, usage }));
  await registrar.start();
  return {
    async stop({ keepPods }) {
      housekeeper.stop();
      if (keepPods) workers.release();
      else await workers.shutDown();
      registrar.stop();
      stopping.abort();
      await events.flush();
      volumes.stop();
      objects.stop();
      await (keepPods ? network.stop() : network.destroy());
    },
  };
}

interface HostFiles {
  hosts: string;
  resolvConf: string;
}

async function hostFiles(): Promise<HostFiles> {
  const read = (file: string) => readFile(join('/etc', file), 'utf8').catch(() => '');
  const [hosts, resolvConf] = await Promise.all([read('hosts'), read('resolv.conf')]);
  return { hosts, resolvConf };
}

function networkFiles(
  pod: PodObject,
  addresses: string[],
  { dns }: PodNetwork,
  machine: HostFiles,
  events: PodEventRecorder,
): NetworkFiles {
  const clusterDomain = dns?.domain ?? 'cluster.local';
  const clusterDns = dns === undefined ? [] : [dns.address];
  const { content, notes } = podResolvConf(pod, { clusterDns, clusterDomain, nodeResolvConf: machine.resolvConf });
  for (const { reason, message } of notes) if (reason !== 'MissingClusterDNS') events.record(pod, 'Warning', reason, message);
  return {
    hosts: podHostsFile(pod, { podIp: addresses[0] ?? '', clusterDomain, nodeHosts: machine.hosts }),
    resolvConf: content,
    hostname: kernelHostname(pod, podHostname(pod, clusterDomain)),
  };
}

async function pullCredentials(pod: PodObject, objects: ReferencedObjects): Promise<RegistryCredential[]> {
  const credentials: RegistryCredential[] = [];
  for (const { name } of pod.spec!.imagePullSecrets ?? []) {
    // Absent or damaged ones are passed over, as by a kubelet: the pull itself will tell whether they were needed.
    const secret = name ? await objects.secret(pod.metadata.namespace!, name) : undefined;
    const text = (key: string) => Buffer.from((secret?.data?.[key] as string | undefined) ?? '', 'base64').toString('utf8');
    try {
      if (secret?.data?.['.dockerconfigjson'])
        credentials.push(...credentialsFromDockerConfig(text('.dockerconfigjson'), 'dockerconfigjson'));
      else if (secret?.data?.['.dockercfg']) credentials.push(...credentialsFromDockerConfig(text('.dockercfg'), 'dockercfg'));
    } catch {
      continue;
    }
  }
  return credentials;
}

async function stopSignal(images: Images, container: Container | undefined): Promise<NodeJS.Signals> {
  const own = container?.lifecycle?.stopSignal;
  if (own) return own as NodeJS.Signals;
  const request = { reference: container?.image ?? '', policy: 'Never' as const, credentials: [], signal: new AbortController().signal };
  const image = await images.ensure(request).catch(() => undefined);
  const name = image?.config.stopSignal;
  if (!name) return 'SIGTERM';
  return (name.startsWith('SIG') ? name : `SIG${name}`) as NodeJS.Signals;
}

const LAST_LINES = 80;
const LAST_BYTES = 2048;

async function lastLines(path: string): Promise<string> {
  const options = { follow: false, previous: false, timestamps: false, tailLines: LAST_LINES, stream: 'All' as const };
  const chunks: Buffer[] = [];
  const stream = readLog({ path, options, ended: Promise.resolve(), signal: new AbortController().signal });
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).subarray(-LAST_BYTES).toString('utf8');
}

async function deletePod(client: Client, { metadata }: PodObject): Promise<void> {
  try {
    await client.resource(Pod, metadata.namespace).delete(metadata.name!, { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } });
  } catch (error) {
    // Gone already, or another Pod has its name now.
    if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
  }
}
