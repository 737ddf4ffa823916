import type { Container } from '../../../kube/generated/core-v1.ts';
import { errorText } from '../../../lib/log.ts';
import type { Clock } from '../../../lib/clock.ts';
import { ContainerError, type ContainerSpec, type Driver, type Mount } from '../drivers/driver.ts';
import { expandCommand } from '../environment/expansion.ts';
import type { Image } from '../images/images.ts';
import { VolumeError, type PodVolumes } from '../volumes/pod-volumes.ts';
import { resourceLimits, securitySpec, userOf } from './model/container-spec.ts';
import { runId, type ContainerRun } from './model/container-runs.ts';
import { referenceTo, type PodObject } from './model/pod-object.ts';
import type { ImagePuller } from './image-puller.ts';
import type { PodEvents } from './pod-events.ts';
import type { PodFiles } from './pod-files.ts';
import type { Sandbox } from './sandbox.ts';
import { StartFailure } from './start-failure.ts';

export interface StarterPorts {
  clock: Clock;
  driver: Driver;
  puller: Pick<ImagePuller, 'image'>;
  volumes: Pick<PodVolumes, 'mountsOf'>;
  files: PodFiles;
  events: PodEvents;
  environment(pod: PodObject, container: Container, podIp: string): Promise<Record<string, string>>;
}

/** Starts one container: image, environment, mounts, driver. @throws StartFailure, with the reason that the container waits with */
export async function startContainer(
  ports: StarterPorts,
  pod: PodObject,
  container: Container,
  attempt: number,
  sandbox: Sandbox,
  signal: AbortSignal,
): Promise<ContainerRun> {
  const { driver, events } = ports;
  const { name } = container;
  const fail = (failure: StartFailure): never => {
    if (!signal.aborted) events.record(pod, 'Warning', 'Failed', `Error: ${failedText(failure)}`, name);
    throw failure;
  };
  try {
    const obstacle = driver.cannotRun(container.image ?? '');
    if (obstacle !== undefined) throw new StartFailure('CreateContainerError', obstacle);
    const image = await ports.puller.image(pod, container, signal);
    const spec = await containerSpec(ports, pod, container, attempt, image, sandbox);
    signal.throwIfAborted();
    const { startedAt } = await driver.start(spec);
    events.record(pod, 'Normal', 'Created', 'Container created', name);
    events.record(pod, 'Normal', 'Started', 'Container started', name);
    return { id: spec.id, name, attempt, startedAt, image: { name: image.name, id: image.id }, requestedImage: container.image };
  } catch (error) {
    if (signal.aborted) throw error;
    return fail(asStartFailure(error));
  }
}

/** Pull failures are told by their name alone: the event of the pull has the words. */
function failedText({ reason, message }: StartFailure): string {
  return /Image/.test(reason) || reason === 'RegistryUnavailable' ? reason : message;
}

function asStartFailure(error: unknown): StartFailure {
  if (error instanceof StartFailure) return error;
  if (error instanceof ContainerError) {
    const created = error.reason === 'CreateContainerConfigError' || error.reason === 'CreateContainerError';
    const options = created ? { cause: error } : { cause: error, exitCode: error.exitCode };
    return new StartFailure(created ? error.reason : 'RunContainerError', error.message, options);
  }
  if (error instanceof VolumeError) return new StartFailure('CreateContainerConfigError', errorText(error), { cause: error });
  return new StartFailure('CreateContainerError', errorText(error), { cause: error });
}

async function containerSpec(
  ports: StarterPorts,
  pod: PodObject,
  container: Container,
  attempt: number,
  image: Image,
  sandbox: Sandbox,
): Promise<ContainerSpec> {
  const reference = referenceTo(pod);
  const spec = pod.spec!;
  const env = { ...ownAddress(pod, sandbox), ...(await ports.environment(pod, container, sandbox.addresses[0] ?? '')) };
  const mounts = await mountsOf(ports, pod, container, attempt, env);
  const { command, args } = expandCommand(container, env);
  return {
    id: runId(reference.uid, container.name, attempt),
    pod: reference,
    name: container.name,
    attempt,
    image,
    command,
    args,
    env,
    workingDir: container.workingDir || undefined,
    hostname: sandbox.hostname,
    user: userOf(spec, container.securityContext),
    mounts,
    limits: resourceLimits(container),
    security: securitySpec(spec, container.securityContext),
    terminal: container.tty ?? false,
    stdin: container.stdin ?? false,
    stdinOnce: container.stdinOnce ?? false,
    networkNamespace: sandbox.namespacePath,
    logPath: ports.files.logPath(reference, container.name, attempt),
  };
}

/** Pods that share the machine's network must know which address is theirs: on all of them at once only one could listen. */
function ownAddress({ spec }: PodObject, { namespacePath, addresses }: Sandbox): Record<string, string> {
  return namespacePath === undefined && !spec!.hostNetwork && addresses.length > 0 ? { POD_IP: addresses[0] } : {};
}

async function mountsOf(
  { volumes, files }: StarterPorts,
  pod: PodObject,
  container: Container,
  attempt: number,
  env: Record<string, string>,
): Promise<Mount[]> {
  const { uid } = referenceTo(pod);
  const { terminationMessagePath: path, volumeMounts = [] } = container;
  const isTaken = volumeMounts.some(({ mountPath }) => mountPath === path);
  const [mounts, message] = await Promise.all([
    volumes.mountsOf(pod, container, env),
    path && !isTaken ? files.terminationMount(uid, container.name, attempt, path) : undefined,
  ]);
  const taken = new Set(mounts.map(({ target }) => target));
  return [...mounts, ...files.networkMounts(uid, taken), ...(message ? [message] : [])];
}
