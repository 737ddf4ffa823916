import { errorText } from '../../../lib/log.ts';
import type { Driver } from '../drivers/driver.ts';
import type { PodNetwork } from '../network/pod-network.ts';
import { VolumeError, type PodVolumes } from '../volumes/pod-volumes.ts';
import { podLimits } from './model/container-spec.ts';
import { referenceTo, type PodObject } from './model/pod-object.ts';
import type { PodEvents } from './pod-events.ts';
import type { NetworkFiles, PodFiles } from './pod-files.ts';

/** What the containers of a Pod share. */
export interface Sandbox {
  addresses: string[];
  namespacePath?: string;
  hostname: string;
}

export interface SandboxPorts {
  driver: Pick<Driver, 'prepareSandbox' | 'removeSandbox'>;
  network: Pick<PodNetwork, 'attach' | 'detach'>;
  volumes: Pick<PodVolumes, 'setUp' | 'tearDown'>;
  files: PodFiles;
  events: PodEvents;
  hostIps: readonly string[];
  networkFiles(pod: PodObject, addresses: string[]): NetworkFiles;
}

/** Makes or finds again what the containers of a Pod share: cgroup, address, files, volumes. Says in an event what is missing. */
export async function setUpSandbox(ports: SandboxPorts, pod: PodObject): Promise<Sandbox> {
  // The mark only has to be there before the first container.
  const marked = ports.files.markSandbox(pod.metadata.uid!);
  const [[sandbox]] = await bothSettled(bothSettled(networkSandbox(ports, pod), mountVolumes(ports, pod)), marked);
  return sandbox;
}

async function networkSandbox({ driver, network, files, events, hostIps, networkFiles }: SandboxPorts, pod: PodObject): Promise<Sandbox> {
  const reference = referenceTo(pod);
  try {
    const [, attachment] = await bothSettled(
      driver.prepareSandbox({ pod: reference, limits: podLimits(pod.spec!) }),
      pod.spec!.hostNetwork ? Promise.resolve({ addresses: [...hostIps], namespacePath: undefined }) : network.attach(pod),
    );
    const written = networkFiles(pod, attachment.addresses);
    await files.writeNetworkFiles(reference.uid, written);
    return { ...attachment, hostname: written.hostname };
  } catch (error) {
    events.record(pod, 'Warning', 'FailedCreatePodSandBox', `Failed to create pod sandbox: ${errorText(error)}`);
    throw error;
  }
}

async function mountVolumes({ volumes, events }: SandboxPorts, pod: PodObject): Promise<void> {
  try {
    await volumes.setUp(pod);
  } catch (error) {
    events.record(pod, 'Warning', error instanceof VolumeError ? error.reason : 'FailedMount', errorText(error));
    throw error;
  }
}

/** Undoes it all. Can be called again, and for Pods of which only the uid is known. */
export async function tearDownSandbox({ driver, network, volumes, files }: SandboxPorts, uid: string): Promise<void> {
  await bothSettled(network.detach(uid), volumes.tearDown(uid));
  await driver.removeSandbox(uid);
  await files.remove(uid);
}

/** Both run to their end before the failure of one is reported: nothing of a Pod goes on behind its worker's back. */
async function bothSettled<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  const [a, b] = await Promise.allSettled([first, second]);
  if (a.status === 'rejected') throw a.reason;
  if (b.status === 'rejected') throw b.reason;
  return [a.value, b.value];
}
