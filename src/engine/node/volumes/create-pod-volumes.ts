import { mkdirSync, realpathSync } from 'node:fs';
import type { Client } from '../../../client/client.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Random } from '../../../lib/backoff.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { ResourceList } from '../environment/container-resource.ts';
import type { HostPathPolicy } from './host-path-policy.ts';
import { NodeVolumes } from './node-volumes.ts';
import { ReferencedObjects } from './referenced-objects.ts';

export interface PodVolumesOptions {
  client: Client;
  clock: Clock;
  log: Log;
  /** The folder of the node: volumes are in `pods/<uid>` below it, secrets in `memory`. */
  dir: string;
  hostPathPolicy: HostPathPolicy;
  /** Whether this process may mount and give files away. */
  isRoot: boolean;
  node: {
    name: string;
    /** What containers without limits may use, by the node's status. */
    allocatable(): ResourceList;
    /** Where the node keeps the volumes of claims: its annotation `tenantry.dev/volume-folder`. */
    volumeFolder?: string;
  };
  /** Shared with what else reads the objects of Pods; made here when absent. */
  objects?: ReferencedObjects;
  /** Something that `setUp` of this Pod waited for has changed: it is worth another try. */
  wake?: (podUid: string) => void;
  /** What the user of the Pod should know; for an event. */
  note?: (pod: KubeObject, note: VolumeNote) => void;
  random?: Random;
}

export interface VolumeNote {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

export function createPodVolumes(options: PodVolumesOptions): NodeVolumes {
  // The kernel tells of mounts by their real paths.
  mkdirSync(options.dir, { recursive: true });
  const dir = realpathSync(options.dir);
  return new NodeVolumes({ ...options, dir, objects: options.objects ?? new ReferencedObjects(options) });
}
