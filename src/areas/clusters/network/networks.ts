import type { NetworkPlan, Port, Vpc } from './model/vpc.ts';

/** What became of a VPC. An error of one says nothing about the others. */
export interface VpcOutcome {
  name: string;
  error?: Error;
}

/** What is there of a VPC. */
export interface VpcObservation {
  name: string;
  /** Whether everything that `ensure` last made is still there, as far as one can tell without making it again. */
  intact: boolean;
}

/**
 * The networks of tenants on this machine. `ensure` is told everything there should be, makes what is missing, changes what differs, and takes
 * away what is no longer named; it may be called again whenever something changes, after a crash, or to repair. Whoever calls it does so one at a time.
 */
export interface Networks {
  readonly provider: string;
  /** Why this provider cannot make the VPC, in words for its owner; undefined when it can. */
  unable(vpc: Vpc): string | undefined;
  ensure(plan: NetworkPlan): Promise<VpcOutcome[]>;
  observe(): Promise<VpcObservation[]>;
  /** Where the tap of a worker is, for the program that opens it. */
  deviceOf(vpc: Vpc, port: Port): Device;
  /** Where a program can be a part of a VPC's router, and what it calls its link; absent: routers run no programs. */
  routerOf?(vpc: string): { namespace: string; vpnLink: string };
  /** Takes everything away that this instance has made. */
  remove(): Promise<void>;
}

export interface Device {
  name: string;
  /** Path of the network namespace; absent: that of the machine. */
  namespace?: string;
}
