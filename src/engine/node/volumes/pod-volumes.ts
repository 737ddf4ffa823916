import type { KubeObject } from '../../../kube/object.ts';
import type { Mount } from '../drivers/driver.ts';

/** The volumes of the Pods on this node: folders under the data directory, filled from the API and kept up to date. */
export interface PodVolumes {
  /**
   * Makes every volume of the Pod ready; can be called again at any time. Rejects with a VolumeError when one is not to be had now
   * (a missing ConfigMap that is not optional, a claim that is not bound): the Pod waits in ContainerCreating.
   */
  setUp(pod: KubeObject): Promise<void>;
  /**
   * What a container mounts, subPath and subPathExpr resolved (`env` expands the latter), after `setUp`; outer mounts first.
   * Rejects with a ContainerError (CreateContainerConfigError).
   */
  mountsOf(pod: KubeObject, container: VolumeUser, env: Record<string, string>): Promise<Mount[]>;
  /** Undoes `setUp`: unmounts and removes everything but the content of claims and host paths. */
  tearDown(podUid: string): Promise<void>;
  /** Volumes of Pods that are gone, after a crash. */
  cleanUp(livePodUids: ReadonlySet<string>): Promise<void>;
  /** Names what is over its limit (emptyDir.sizeLimit), for eviction; the text is Kubernetes' message. */
  overLimit(pod: KubeObject): Promise<string | undefined>;
  stop(): void;
}

export interface VolumeUser {
  name: string;
  volumeMounts?: {
    name: string;
    mountPath: string;
    readOnly?: boolean;
    subPath?: string;
    subPathExpr?: string;
    mountPropagation?: string;
    recursiveReadOnly?: string;
  }[];
  securityContext?: { runAsUser?: number };
}

export class VolumeError extends Error {
  /** The reason of the event: FailedMount, or one more precise. */
  readonly reason: string;

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
