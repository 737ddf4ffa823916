import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';

type ClusterStatus = NonNullable<TenantCluster['status']>;

/** The status of a cluster that is to have this version. What failed once is not tried again before something else was asked for: each try is an outage. */
export function withVersion({ upgrade, ...status }: ClusterStatus, version: string): ClusterStatus {
  if (status.version === undefined || status.version === version) return { ...status, version };
  return { ...status, upgrade: upgrade?.version === version ? upgrade : { version } };
}

/** Which version its control plane is to run now. */
export function versionToRun({ version, upgrade }: ClusterStatus): string {
  return upgrade === undefined || upgrade.failed !== undefined ? version! : upgrade.version;
}

/** Whether a version is on trial: the one before it is still what the cluster has. */
export function isUpgrading({ upgrade }: ClusterStatus): boolean {
  return upgrade !== undefined && upgrade.failed === undefined;
}

/** It came up. */
export function upgraded({ upgrade, ...status }: ClusterStatus): ClusterStatus {
  if (upgrade === undefined) return status;
  return upgrade.failed === undefined ? { ...status, version: upgrade.version } : { ...status, upgrade };
}

/** It did not. */
export function upgradeFailed(status: ClusterStatus, why: string): ClusterStatus {
  return { ...status, upgrade: { ...status.upgrade!, failed: why } };
}

/** For people, with what can be done. */
export function upgradeText({ version, upgrade }: ClusterStatus): string | undefined {
  if (upgrade === undefined) return undefined;
  if (upgrade.failed === undefined) return `it is taken from ${version} to ${upgrade.version}`;
  return `Kubernetes ${upgrade.version} did not come up: ${upgrade.failed}; it goes on with ${version}. To try again ask for ${version}, then for ${upgrade.version}`;
}
