import type { ClusterReason, ControlPlaneProvider } from '../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { RotationWish } from './process/model/rotation-step.ts';
import type { AuthorityNews } from './process/plane-authorities.ts';

/** What a control plane is to be. Complete: a provider needs nothing else, and keeps nothing but what is in its folder. */
export interface WantedControlPlane {
  /** The uid of the TenantCluster: two clusters of one name, one after the other, are two. */
  id: string;
  namespace: string;
  name: string;
  version: string;
  /** Further names and addresses of the endpoint's certificate. */
  names: readonly string[];
  /** Where its endpoint is: an address of this machine that is its tenant's alone. Absent: the provider has one. */
  address?: string;
  /** Which edition of the owners' credentials is good. */
  accessRevision: number;
  /** How many of each of its programs there are; one if nothing is said. */
  replicas?: number;
  limits?: PlaneBounds;
  /** What was asked for of its certificates; absent: nothing. */
  rotation?: RotationWish;
}

/** What it may use at most, as its tenant's policies say; what they do not say is the provider's. Those of its processes can change while it runs. */
export interface PlaneBounds {
  cpuMillis?: number;
  memoryBytes?: number;
  /** From its next start. */
  storeBytes?: number;
}

export interface CertificatePair {
  certificatePem: string;
  keyPem: string;
}

/** A control plane that answers. */
export interface RunningControlPlane {
  /** https://address:port, for the life of the cluster. */
  endpoint: string;
  authorityPem: string;
  /** Who may vouch for users of extension API servers. */
  frontProxyAuthorityPem?: string;
  /** For the owners: a member of `ownerGroup`, which has only the rights that a binding inside gives it. */
  owner: CertificatePair;
  ownerGroup: string;
  /** For us: all rights, whatever is in the cluster. */
  platform: CertificatePair;
  /** When the first certificate ends, in milliseconds. */
  certificatesExpire: number;
  /** Who signs its certificates, and who else is trusted. */
  authorities?: AuthorityNews;
  /** Why its processes share a user with others; undefined: they have one of their own. */
  sharedUser?: string;
  /** Where the tunnels of its workers arrive; absent: it takes none. */
  tunnel?: { address: string; port: number };
  /** Of its API server: how many there are to be, and are ready; what became of the others. */
  replicas: { wanted: number; ready: number; note?: string };
  /** What is wrong with it although it answers. */
  trouble?: { reason: keyof typeof ClusterReason; message: string };
}

export interface Backup {
  name: string;
  /** Milliseconds. */
  time: number;
  bytes: number;
}

/**
 * Who makes control planes. All verbs can be repeated, also after a crash in the middle of one, and cost next to nothing when there is
 * nothing to do.
 */
export interface ControlPlanes {
  readonly provider: ControlPlaneProvider;
  /** Makes, wakes or repairs it; one that has not come to answer when the signal fires is ended. @throws ControlPlaneError */
  run(wanted: WantedControlPlane, signal?: AbortSignal): Promise<RunningControlPlane>;
  /** Ends its processes; everything else stays. */
  sleep(id: string): Promise<void>;
  /** Leaves nothing of it, its backups included. */
  remove(id: string): Promise<void>;
  backups(id: string): Promise<Backup[]>;
  /** Of one that runs. @throws ControlPlaneError */
  backup(id: string, name: string, signal?: AbortSignal): Promise<Backup>;
  removeBackup(id: string, name: string): Promise<void>;
  /**
   * Replaces all objects by those of a backup, of this cluster or another; it sleeps then. Done once for each token, however often it is
   * asked for. The signal ends it where it is; asked again it begins anew. @throws ControlPlaneError `NoBackup`
   */
  restore(wanted: WantedControlPlane, from: { id: string; backup: string }, token: string, signal?: AbortSignal): Promise<void>;
  /** Tells the id of a control plane that ended, is in trouble, or has new certificates. */
  onChange(listener: (id: string) => void): () => void;
  /** Lets go of everything; processes run on. */
  close(): Promise<void>;
}

/** Something expected is in the way; the cluster's condition says it. */
export class ControlPlaneError extends Error {
  readonly reason: keyof typeof ClusterReason;
  /** When to try again; undefined: when something changes. */
  readonly afterMs: number | undefined;

  constructor(reason: keyof typeof ClusterReason, message: string, options: { afterMs?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'ControlPlaneError';
    this.reason = reason;
    this.afterMs = options.afterMs;
  }
}
