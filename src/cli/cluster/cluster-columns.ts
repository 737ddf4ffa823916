import { ClusterCondition } from '../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { ageOf } from '../../kube/age.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { Cell, Colour, Column } from '../terminal/table.ts';

const PHASE_COLOURS: Record<string, Colour> = {
  Ready: 'green',
  Creating: 'cyan',
  Restoring: 'cyan',
  Pending: 'yellow',
  Asleep: 'grey',
  Failed: 'red',
  Deleting: 'red',
};

export function clusterColumns(now: Date, allNamespaces: boolean): Column<TenantCluster>[] {
  return [
    ...(allNamespaces ? [{ header: 'TENANT', cell: ({ metadata }: TenantCluster) => metadata.namespace! }] : []),
    { header: 'NAME', cell: ({ metadata }) => metadata.name! },
    { header: 'PHASE', cell: ({ status }) => phaseCell(status?.phase) },
    { header: 'VERSION', cell: ({ status }) => status?.version ?? '' },
    { header: 'CONTROL PLANE', cell: ({ status }) => status?.provider ?? '' },
    { header: 'ENDPOINT', cell: ({ status }) => status?.endpoint ?? '' },
    { header: 'BOUNDS', cell: boundsCell },
    { header: 'AGE', cell: ({ metadata }) => ageOf(metadata.creationTimestamp, now) },
    { header: 'MESSAGE', cell: ({ status }) => findCondition(status?.conditions, 'Ready')?.message ?? '', wide: true },
  ];
}

export function phaseCell(phase = 'Pending'): Cell {
  return { text: phase, colour: PHASE_COLOURS[phase] };
}

function boundsCell({ status }: TenantCluster): Cell {
  const within = findCondition(status?.conditions, ClusterCondition.WithinBounds)?.status;
  if (within === 'False') return { text: 'beyond', colour: 'yellow' };
  return { text: within === 'True' ? 'within' : '' };
}
