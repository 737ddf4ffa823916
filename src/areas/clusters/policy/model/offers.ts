import type { ControlPlaneProvider, KernelIsolation } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';

/** What this installation can do for tenant clusters. */
export interface Offers {
  controlPlanes: readonly ControlPlaneOffer[];
  /** Kinds of workers, the strongest isolation of each. */
  machines: readonly { name: string; isolation: KernelIsolation }[];
  /** Why clusters can have no networks of their own, as far as anybody has asked; undefined: they can. */
  networks: { readonly unable?: string };
}

export interface ControlPlaneOffer {
  provider: ControlPlaneProvider;
  /** Newest first. */
  versions: readonly string[];
  maxReplicas: number;
  /** Why it is not to be had, when there is no version of it. */
  missing?: string;
}
