import type { Tenant } from '../../api/tenantry.dev/v1alpha1/tenant.ts';
import { ageOf } from '../../kube/age.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { Cell, Colour, Column } from '../terminal/table.ts';

const PHASE_COLOURS: Record<string, Colour> = { Active: 'green', Moving: 'cyan', Pending: 'yellow', Suspended: 'grey', Deleting: 'red' };

export function tenantColumns(now: Date): Column<Tenant>[] {
  return [
    { header: 'NAME', cell: ({ metadata }) => metadata.name! },
    { header: 'PHASE', cell: ({ status }) => phaseCell(status?.phase) },
    { header: 'ISOLATION', cell: isolationText },
    { header: 'NAMESPACES', cell: ({ status }) => String(status?.namespaceCount ?? 0) },
    { header: 'OWNERS', cell: ownersText },
    { header: 'AGE', cell: ({ metadata }) => ageOf(metadata.creationTimestamp, now) },
    { header: 'MESSAGE', cell: ({ status }) => findCondition(status?.conditions, 'Ready')?.message ?? '', wide: true },
  ];
}

export function phaseCell(phase = 'Pending'): Cell {
  return { text: phase, colour: PHASE_COLOURS[phase] };
}

/** `Namespace -> DedicatedNodes` while it moves. */
export function isolationText({ spec, status }: Tenant): string {
  const wanted = spec?.isolation ?? 'Namespace';
  const now = status?.isolation;
  return now === undefined || now === wanted ? wanted : `${now} -> ${wanted}`;
}

export function ownersText({ spec }: Tenant): string {
  const owners = spec?.owners ?? [];
  if (owners.length === 0) return '<none>';
  return owners
    .map(({ kind, name, namespace }) => (kind === 'User' ? name : `${kind.toLowerCase()}:${namespace ? `${namespace}/` : ''}${name}`))
    .join(',');
}
