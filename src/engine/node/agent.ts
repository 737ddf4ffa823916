import { totalmem } from 'node:os';
import type { Client } from '../../client/client.ts';
import { Pod, Service } from '../../client/kinds.ts';
import { longLivedController } from '../../lib/abort.ts';
import type { Random } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { processorTimes } from '../../lib/processor-times.ts';
import type { SharedInformers } from '../../runtime/informer/shared-informers.ts';
import type { Driver } from './drivers/driver.ts';
import { resolveEnvironment } from './environment/resolve-environment.ts';
import { withApiServer } from './environment/service-variables.ts';
import type { Images } from './images/images.ts';
import type { PodNetwork } from './network/pod-network.ts';
import { GreedyPods } from './pods/greedy-pods.ts';
import { Housekeeper } from './pods/housekeeper.ts';
import { machineFiles, networkFiles } from './pods/machine-files.ts';
import type { PodObject } from './pods/model/pod-object.ts';
import { createPodAccess } from './pods/pod-access.ts';
import { PodEventRecorder } from './pods/pod-events.ts';
import { PodFilesOnDisk } from './pods/pod-files.ts';
import { PodWorkers } from './pods/pod-workers.ts';
import { pullCredentials } from './pods/pull-credentials.ts';
import type { SandboxPorts } from './pods/sandbox.ts';
import { UsageSampler } from './pods/usage-sampler.ts';
import { workerPorts } from './pods/worker-ports.ts';
import { Probes } from './probes/pod-probes.ts';
import { nodeStatus, type NodeDescription } from './registration/describe-node.ts';
import { machineState, type MachineFacts } from './registration/machine-facts.ts';
import { NodeRegistrar } from './registration/node-registrar.ts';
import type { PodAccess } from './server/pod-access.ts';
import { createPodVolumes } from './volumes/create-pod-volumes.ts';
import { reclaimVolumes } from './volumes/reclaim-volumes.ts';
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
  /** What the Node says of itself; what is found out here is added. */
  node: Omit<NodeDescription, 'images' | 'diskBytes' | 'machine' | 'podCidr' | 'serverPort'>;
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
  const { client, clock, log, dir, driver, images, network } = options;
  const basics = { client, clock, log };
  const stopping = longLivedController();
  const pods = options.informers.get<PodObject>(Pod, { fieldSelector: `spec.nodeName=${options.node.name}` });
  const events = new PodEventRecorder({ client, log, nodeName: options.node.name });
  const files = new PodFilesOnDisk(dir, options.machine.bootId);
  const objects = new ReferencedObjects({ client, log });
  const self = await describeSelf(options);
  const volumes = createPodVolumes({
    ...basics,
    dir,
    objects,
    random: options.random,
    hostPathPolicy: options.hostPathPolicy,
    isRoot: options.isRoot,
    node: { name: options.node.name, allocatable: () => self.allocatable, volumeFolder: options.node.volumeFolder },
    wake: (uid) => workers.get(uid)?.wake(),
    note: (pod, { type, reason, message }) => events.record(pod, type, reason, message),
  });
  const housekeeper = new Housekeeper({
    clock,
    log,
    images,
    volumes,
    workers: () => workers.all(),
    state: () => machineState(dir),
    pressureChanged: () => void registrar.changed().catch((error: unknown) => log.warn('cannot report pressure', { error })),
  });
  const own = { events, files, volumes };
  const surroundings = await podSurroundings(options, { ...own, objects, self }, stopping.signal);
  const ports = workerPorts({
    ...basics,
    ...own,
    ...surroundings,
    driver,
    images,
    probes: new Probes({ clock, random: options.random, events, driver }),
    credentials: (pod) => pullCredentials(pod, objects.secret),
    abilities: () => {
      const { disk, memory } = housekeeper.pressure;
      return { driver: driver.name, os: options.machine.os, diskPressure: disk, memoryPressure: memory };
    },
    podIp: (uid) => workers.get(uid)?.sandbox?.addresses[0] ?? '',
    usersOfPods: options.isRoot && driver.name === 'process',
  });
  const workers = new PodWorkers({ clock, log, pods, driver, network, volumes, files, ports, signal: stopping.signal });
  const registrar = new NodeRegistrar({
    ...basics,
    describe: async () => {
      const health = { pressure: housekeeper.pressure, policies: network.enforcesPolicies, missingIsolation: driver.missingIsolation };
      return { node: await self.describe(), health };
    },
  });

  await housekeeper.start();
  await workers.start();
  const usage = new UsageSampler({ clock, driver, memoryInUse: async () => totalmem() - (await machineState(dir)).memoryAvailableBytes });
  self.serverPort = await options.serve(createPodAccess({ workers, driver, network, files, usage }));
  await registrar.start();
  const greedy = new GreedyPods({ clock, log, pods: () => workers.all(), turns: driver.processors, times: processorTimes });
  greedy.start();
  // Nobody tells it to stop when `up` is gone, and until the next agent comes nobody else makes Pods equal again.
  const endGreed = () => greedy.stop();
  process.once('exit', endGreed);
  const { volumeFolder } = options.node;
  const reclaimer = reclaimVolumes({ ...basics, volumeFolder, isMounted: (path) => volumes.isMounted(path) });
  return {
    async stop({ keepPods }) {
      housekeeper.stop();
      endGreed();
      process.off('exit', endGreed);
      if (keepPods) workers.release();
      else await workers.shutDown();
      registrar.stop();
      await reclaimer.stop();
      stopping.abort();
      await events.flush();
      volumes.stop();
      objects.stop();
      await (keepPods ? network.stop() : network.destroy());
    },
  };
}

interface SelfDescription {
  serverPort: number | undefined;
  /** As of the last description. */
  allocatable: Record<string, string>;
  describe(): Promise<NodeDescription>;
}

async function describeSelf({ node, machine, network, dir, images }: AgentOptions): Promise<SelfDescription> {
  const self: SelfDescription = {
    serverPort: undefined,
    allocatable: {},
    async describe() {
      const { disk } = await machineState(dir);
      const { serverPort } = self;
      const description = {
        ...node,
        machine,
        podCidr: network.podCidr,
        serverPort,
        diskBytes: disk.totalBytes,
        images: await images.list(),
      };
      self.allocatable = nodeStatus(description).allocatable!;
      return description;
    },
  };
  await self.describe();
  return self;
}

/** What Pods find around them: network, names, variables. Everything of it is there when this resolves. */
async function podSurroundings(
  { machine, driver, network, informers }: AgentOptions,
  own: Pick<SandboxPorts, 'events' | 'files' | 'volumes'> & { objects: ReferencedObjects; self: SelfDescription },
  signal: AbortSignal,
) {
  const services = informers.get(Service);
  const [files] = await Promise.all([machineFiles(), network.start(), services.whenSynced(signal)]);
  const { events, objects, self } = own;
  const hostIps = [machine.address];
  const sandbox: SandboxPorts = {
    driver,
    network,
    volumes: own.volumes,
    files: own.files,
    events,
    hostIps,
    networkFiles: (pod, addresses) => networkFiles(pod, addresses, network, files, events),
  };
  const environment: Parameters<typeof workerPorts>[0]['environment'] = (pod, container, podIp) => {
    const node = { allocatable: self.allocatable };
    const reachable = withApiServer(services.list(), network.apiServer);
    return resolveEnvironment({ pod, container, services: reachable, podIp, hostIp: hostIps[0], node, read: objects });
  };
  return { sandbox, environment };
}
