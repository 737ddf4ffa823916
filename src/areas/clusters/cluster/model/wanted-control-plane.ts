import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import type { PlaneBounds, WantedControlPlane } from '../../control-plane/control-planes.ts';
import type { Bounds } from '../../policy/model/bounds.ts';
import type { RotationWish } from '../../control-plane/process/model/rotation-step.ts';
import { versionToRun } from './upgrade.ts';

export function wantedControlPlane({ metadata, spec, status }: TenantCluster, bounds: Bounds | undefined): WantedControlPlane {
  return {
    id: metadata.uid!,
    namespace: metadata.namespace!,
    name: metadata.name!,
    version: versionToRun(status!),
    names: spec.access?.names ?? [],
    ...(status!.network === undefined ? {} : { address: status!.network.address }),
    accessRevision: spec.access?.revision ?? 0,
    replicas: spec.controlPlane?.replicas ?? 1,
    limits: planeBounds(bounds),
    ...(spec.certificates === undefined ? {} : { rotation: rotationOf(spec.certificates) }),
  };
}

function rotationOf({ revision = 0, authorities = 0, revoke = 0 }: NonNullable<TenantCluster['spec']['certificates']>): RotationWish {
  return { certificates: revision, authorities, revoke };
}

/** Less holds not even what every cluster has; to etcd none at all would mean its own default, and less than none no limit. */
const LEAST_STORE_BYTES = 64 * 1024 ** 2;

function planeBounds({ planeCpu, planeMemory, planeStorage }: Partial<Bounds> = {}): PlaneBounds {
  return {
    cpuMillis: planeCpu?.value.milliValue(),
    memoryBytes: planeMemory?.value.value(),
    storeBytes: planeStorage && Math.max(LEAST_STORE_BYTES, planeStorage.value.value()),
  };
}

/** A suspended tenant's clusters sleep too. */
export function isToSleep({ spec }: TenantCluster, tenant: Tenant | undefined): boolean {
  return spec.sleep === true || tenant?.spec.suspended === true;
}

/** One value of `spec.restore`, as it was done. */
export function restoreToken({ spec }: TenantCluster): string | undefined {
  if (spec.restore === undefined) return undefined;
  const { backup, cluster, request } = spec.restore;
  return JSON.stringify([backup, cluster ?? '', request ?? 0]);
}
