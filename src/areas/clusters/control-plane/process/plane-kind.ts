import type { ControlPlaneProvider } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { Clock } from '../../../../lib/clock.ts';
import type { CertificatePair, WantedControlPlane } from '../control-planes.ts';
import type { ControlPlaneResource } from '../resource-walk.ts';
import type { Allocation } from './allocation.ts';
import type { ClusterFolders, ClusterRecord } from './cluster-folder.ts';
import type { GoMessage } from './launch.ts';
import type { PlaneNeeds } from './plane-groups.ts';

/** Where a control plane is: its folders, and what is written down about it. */
export interface PlanePlace {
  id: string;
  folders: ClusterFolders;
  record: ClusterRecord;
  /** Its own address, or the one that all share that have none. */
  address: string;
}

export interface PlaneKeys {
  authorityPem: string;
  frontProxyAuthorityPem: string;
  /** For the owners, who have the rights of this group. */
  owner: CertificatePair;
  ownerGroup: string;
  platform: CertificatePair;
  /** When the first of all its certificates ends, in milliseconds. */
  expire: number;
  /** Another one: its process has to be told. */
  edition: string;
}

/** In what control planes differ that are processes on this machine. */
export interface PlaneKind {
  readonly provider: ControlPlaneProvider;
  /** The program of its process, for Node.js. */
  readonly program: string;
  /** What the cluster's user must be able to read or to run. */
  readonly files: readonly string[];
  /** Whether it is worth to load the program ahead for the next cluster. */
  readonly loadsAhead: boolean;
  /** All its processes together. */
  readonly needs: PlaneNeeds;
  /** What a new cluster needs besides a port and a user. */
  allocate?(give: Allocation, record: ClusterRecord): Partial<ClusterRecord>;
  /** The address of an endpoint that was given none. */
  addressOf?(record: ClusterRecord): string | undefined;
  /** Why this cluster cannot be what is wanted. @throws ControlPlaneError */
  check?(wanted: WantedControlPlane): void;
  /** What there must be before its process. `wanted` is undefined when it is to go. */
  surroundings?(wanted: WantedControlPlane | undefined, place: PlanePlace): ControlPlaneResource[];
  /** What the process is started by, in place of directly. */
  startedBy?(place: PlanePlace): readonly string[];
  /** Its authorities: the names of their files, with the common names of their certificates. */
  readonly authorities: Readonly<Record<string, string>>;
  /** @param leavesSince certificates from before are made anew */
  ensureKeys(wanted: WantedControlPlane, place: PlanePlace, clock: Pick<Clock, 'now'>, leavesSince?: number): Promise<PlaneKeys>;
  /** What is told to the process once its keys are there. A process that was told something else is replaced. */
  go(wanted: WantedControlPlane, place: PlanePlace): Omit<GoMessage, 'edition'>;
  /** Has the objects of one that is stopped replaced by those of a backup. */
  restore(wanted: WantedControlPlane, place: PlanePlace, source: string, signal: AbortSignal | undefined): Promise<void>;
  /** Where the workers' tunnels arrive. */
  tunnel?(place: PlanePlace): { address: string; port: number };
}
