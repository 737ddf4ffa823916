import type { Client } from '../../client/client.ts';
import { PersistentVolume, PersistentVolumeClaim, Pod } from '../../client/kinds.ts';
import { BOUND_BY_CONTROLLER, isFullyBound, SELECTED_NODE } from '../../kube/volume-matching.ts';
import { orAborted, timeoutSignal } from '../../lib/abort.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Informer } from '../../runtime/informer/informer.ts';
import type { PodInfo } from './model/pod-info.ts';
import type { ClaimStep } from './model/volumes.ts';

type Claim = NonNullable<(typeof PersistentVolumeClaim)['objectType']>;

/** How long volumes may take before the Pod looks for another node. */
const VOLUMES_TIMEOUT_MS = 600_000;

export interface BinderOptions {
  client: Client;
  clock: Clock;
  claims: Informer<Claim>;
  signal: AbortSignal;
}

/** Gives the Pod's claims their volumes on the node, then the Pod its node. */
export async function bindPod(options: BinderOptions, info: PodInfo, node: string, steps: readonly ClaimStep[]): Promise<void> {
  const { client, signal } = options;
  if (steps.length > 0) await bindVolumes(options, node, steps);
  const { name, namespace, uid } = info.pod.metadata;
  await client
    .resource(Pod, namespace)
    .subresource('binding')
    .create(
      name!,
      { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace, uid }, target: { kind: 'Node', name: node } },
      { signal },
    );
}

async function bindVolumes(options: BinderOptions, node: string, steps: readonly ClaimStep[]): Promise<void> {
  const { client, clock, claims, signal } = options;
  for (const { claim, volume } of steps) {
    const { name, namespace, uid, resourceVersion } = claim.metadata;
    if (volume) {
      const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid, resourceVersion };
      const metadata = { resourceVersion: volume.metadata.resourceVersion, annotations: { [BOUND_BY_CONTROLLER]: 'yes' } };
      await client
        .resource(PersistentVolume)
        .patch(volume.metadata.name!, { type: 'merge', patch: { metadata, spec: { claimRef } } }, { signal });
    } else if (claim.metadata.annotations?.[SELECTED_NODE] !== node) {
      const metadata = { resourceVersion, annotations: { [SELECTED_NODE]: node } };
      await client.resource(PersistentVolumeClaim, namespace).patch(name!, { type: 'merge', patch: { metadata } }, { signal });
    }
  }
  const timeout = timeoutSignal(clock, VOLUMES_TIMEOUT_MS, signal);
  try {
    await Promise.all(steps.map(({ claim }) => whenBound(claims, claim, timeout.signal)));
  } finally {
    timeout.dispose();
  }
}

/** Rejects when the claim goes, or its provisioner takes back the choice of the node. */
async function whenBound(claims: Informer<Claim>, { metadata }: Claim, signal: AbortSignal): Promise<void> {
  const { name, namespace, uid } = metadata;
  let chosen = false;
  let stop: (() => void) | undefined;
  const bound = new Promise<void>((resolve, reject) => {
    stop = claims.onChange(({ type, object }) => {
      if (object.metadata.uid !== uid) return;
      if (type === 'deleted') reject(new Error(`persistentvolumeclaim "${name}" not found`));
      else if (isFullyBound(object)) resolve();
      else if (object.metadata.annotations?.[SELECTED_NODE] !== undefined) chosen = true;
      else if (chosen) reject(new Error(`provisioning failed for PVC "${namespace}/${name}"`));
    });
  });
  try {
    await orAborted(bound, signal);
  } finally {
    stop?.();
  }
}
