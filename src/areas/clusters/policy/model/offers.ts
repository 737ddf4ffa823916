import type { ControlPlaneProvider, KernelIsolation } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';

/** What this installation can do for tenant clusters. */
export interface Offers {
  controlPlanes: readonly ControlPlaneOffer[];
  /** Kinds of workers, the strongest isolation of each. */
  machines: readonly { name: string; isolation: KernelIsolation }[];
  /** Whether clusters can have networks of their own. */
  networks: boolean;
}

export interface ControlPlaneOffer {
  provider: ControlPlaneProvider;
  /** Newest first. */
  versions: readonly string[];
  maxReplicas: number;
}
