import type { Vpc } from '../../api/tenantry.dev/v1alpha1/vpc.ts';
import { ageOf } from '../../kube/age.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { Cell, Column } from '../terminal/table.ts';

export function vpcColumns(now: Date): Column<Vpc>[] {
  return [
    { header: 'TENANT', cell: ({ metadata }) => metadata.namespace! },
    { header: 'READY', cell: ({ status }) => readyCell(status) },
    { header: 'PROVIDER', cell: ({ status }) => status?.provider ?? '' },
    { header: 'MODE', cell: ({ spec }) => spec.mode ?? 'Overlay' },
    { header: 'SUBNETS', cell: ({ spec }) => spec.subnets.map(({ cidr }) => cidr).join(', ') },
    { header: 'WORKERS', cell: ({ status }) => String(status?.workers ?? 0) },
    {
      header: 'PEERS',
      cell: ({ status }) =>
        (status?.peers ?? [])
          .filter(({ state }) => state === 'Peered')
          .map(({ name }) => name)
          .join(', '),
    },
    { header: 'AGE', cell: ({ metadata }) => ageOf(metadata.creationTimestamp, now) },
    { header: 'MESSAGE', cell: ({ status }) => findCondition(status?.conditions, 'Ready')?.message ?? '', wide: true },
  ];
}

export function readyCell(status: Vpc['status']): Cell {
  const ready = findCondition(status?.conditions, 'Ready');
  if (ready?.status === 'True') return { text: 'yes', colour: 'green' };
  return { text: ready?.reason ?? 'Pending', colour: 'yellow' };
}
