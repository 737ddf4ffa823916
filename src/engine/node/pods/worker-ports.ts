import type { Client } from '../../../client/client.ts';
import { Pod } from '../../../client/kinds.ts';
import type { Container, LifecycleHandler } from '../../../kube/generated/core-v1.ts';
import type { Json } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { Driver } from '../drivers/driver.ts';
import type { Images, RegistryCredential } from '../images/images.ts';
import { commandResult } from '../probes/exec-command.ts';
import { hookRequest } from '../probes/http-probe.ts';
import type { PodProbes, Probes } from '../probes/pod-probes.ts';
import type { PodVolumes } from '../volumes/pod-volumes.ts';
import { startContainer, type StarterPorts } from './container-starter.ts';
import { ImagePuller } from './image-puller.ts';
import { lastLines } from './last-lines.ts';
import { runHook, type HookPorts } from './lifecycle-hooks.ts';
import type { NodeAbilities } from './model/admission.ts';
import { withClaimGroup } from './model/claim-group.ts';
import type { ContainerRun } from './model/container-runs.ts';
import type { ProbeFindings } from './model/pod-actions.ts';
import type { PodObject } from './model/pod-object.ts';
import type { ContainerPorts } from './pod-containers.ts';
import type { PodEvents } from './pod-events.ts';
import type { PodFiles } from './pod-files.ts';
import { setUpSandbox, tearDownSandbox, type Sandbox, type SandboxPorts } from './sandbox.ts';

/** What a worker asks of its node. */
export interface WorkerPorts extends ContainerPorts {
  probes: ProbeFindings & PodProbes;
  driverName: 'process' | 'oci';
  missingIsolation: readonly string[];
  hostIps: readonly string[];
  abilities(): NodeAbilities;
  setUpSandbox(pod: PodObject): Promise<Sandbox>;
  /** Brings what its containers see of the Pod itself up to date. */
  refreshVolumes(pod: PodObject): Promise<void>;
  tearDownSandbox(uid: string): Promise<void>;
  patchStatus(pod: PodObject, status: Json): Promise<PodObject>;
  /** Takes the Pod out of the API; it is over. Resolves too when it is gone already. */
  deletePod(pod: PodObject): Promise<void>;
  /** Nothing is left of it anywhere. */
  gone(uid: string): void;
}

export interface WorkerSurroundings {
  client: Client;
  clock: Clock;
  log: Log;
  driver: Driver;
  images: Images;
  volumes: PodVolumes;
  files: PodFiles;
  events: PodEvents;
  probes: Probes;
  sandbox: SandboxPorts;
  environment: StarterPorts['environment'];
  credentials(pod: PodObject): Promise<RegistryCredential[]>;
  abilities(): NodeAbilities;
  podIp(uid: string): string;
  /** Every Pod runs as a user of its own. */
  usersOfPods: boolean;
}

/** What a worker needs, from what a node has. */
export function workerPorts(node: WorkerSurroundings): Omit<WorkerPorts, 'gone'> {
  const { client, clock, driver, images, volumes, files, events, sandbox, environment } = node;
  const puller = new ImagePuller({ images, events, clock, credentials: (pod) => node.credentials(pod) });
  const starter: StarterPorts = { clock, driver, puller, volumes, files, events, environment };
  const hooks: HookPorts = {
    clock,
    exec: async (runId, command, signal) => commandResult(await driver.exec(runId, { command, terminal: false, stdin: false }), signal),
    httpGet: hookRequest,
  };
  const seen = (pod: PodObject) => (node.usersOfPods ? withClaimGroup(pod) : pod);
  const hook = (pod: PodObject, container: Container, run: ContainerRun, handler: LifecycleHandler, signal: AbortSignal) =>
    runHook(hooks, { pod, container, runId: run.id, podIp: node.podIp(pod.metadata.uid!) }, handler, signal);
  return {
    clock,
    log: node.log,
    driver,
    driverName: driver.name,
    missingIsolation: driver.missingIsolation,
    events,
    files,
    probes: node.probes,
    hostIps: sandbox.hostIps,
    abilities: () => node.abilities(),
    setUpSandbox: (pod) => setUpSandbox(sandbox, seen(pod)),
    refreshVolumes: (pod) => volumes.setUp(seen(pod)),
    tearDownSandbox: (uid) => tearDownSandbox(sandbox, uid),
    start: (pod, container, attempt, shared, signal) => startContainer(starter, seen(pod), container, attempt, shared, signal),
    postStart: (pod, container, run, signal) => hook(pod, container, run, container.lifecycle!.postStart!, signal),
    preStop: (pod, container, run, signal) => hook(pod, container, run, container.lifecycle!.preStop!, signal),
    stopSignal: (_pod, container) => stopSignal(images, container),
    lastLines,
    patchStatus: (pod, status) => {
      const { name, namespace, uid } = pod.metadata;
      return client.resource(Pod, namespace).status.patch(name!, { type: 'strategic', patch: { metadata: { uid }, status } });
    },
    deletePod: (pod) => deletePod(client, pod),
  };
}

/** What the container says, or its image, or SIGTERM. */
async function stopSignal(images: Images, container: Container | undefined): Promise<NodeJS.Signals> {
  const own = container?.lifecycle?.stopSignal;
  if (own) return own as NodeJS.Signals;
  const request = { reference: container?.image ?? '', policy: 'Never' as const, credentials: [], signal: new AbortController().signal };
  const name = (await images.ensure(request).catch(() => undefined))?.config.stopSignal;
  if (!name) return 'SIGTERM';
  return (name.startsWith('SIG') ? name : `SIG${name}`) as NodeJS.Signals;
}

async function deletePod(client: Client, { metadata }: PodObject): Promise<void> {
  try {
    await client.resource(Pod, metadata.namespace).delete(metadata.name!, { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } });
  } catch (error) {
    // Gone already, or another Pod has its name now.
    if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
  }
}
