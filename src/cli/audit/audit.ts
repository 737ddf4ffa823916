import { CrossTenantAttemptKind, type CrossTenantAttempt } from '../../api/plugins.tenantry.dev/v1alpha1/cross-tenant-attempt.ts';
import { ageOf } from '../../kube/age.ts';
import { attempting } from '../terminal/explain.ts';
import { outputFormat, printList } from '../terminal/print.ts';
import type { Session } from '../terminal/session.ts';
import type { Column } from '../terminal/table.ts';

export interface AuditFlags {
  tenant?: string;
  plugin?: string;
  since?: string;
  output?: string;
}

/** What plugins tried outside of what is their own, the last first. */
export async function audit(session: Session, flags: AuditFlags): Promise<number> {
  const format = outputFormat(flags.output);
  const now = session.clock.now();
  const from = flags.since === undefined ? 0 : now - durationMs(flags.since);
  const where = { server: session.cluster.server, namespace: flags.tenant ?? session.namespace };
  const { items } = await attempting('list what plugins tried', where, () =>
    session.cluster.client.resource(CrossTenantAttemptKind, flags.tenant).listAll(),
  );
  const found = items
    .filter(({ spec }) => (flags.plugin === undefined || spec.plugin === flags.plugin) && Date.parse(spec.lastSeen) >= from)
    .sort((a, b) => b.spec.lastSeen.localeCompare(a.spec.lastSeen));
  await printList(session, format, CrossTenantAttemptKind, found, columns(new Date(now)), 'No plugin was refused anything');
  return 0;
}

function columns(now: Date): Column<CrossTenantAttempt>[] {
  return [
    { header: 'LAST', cell: ({ spec }) => ageOf(spec.lastSeen, now) },
    { header: 'TENANT', cell: ({ metadata }) => metadata.namespace! },
    { header: 'PLUGIN', cell: ({ spec }) => spec.plugin },
    { header: 'KIND', cell: ({ spec }) => spec.kind },
    { header: 'TARGET', cell: ({ spec }) => spec.target },
    { header: 'RULE', cell: ({ spec }) => spec.rule },
    { header: 'COUNT', cell: ({ spec }) => String(spec.count) },
    { header: 'SOURCE', cell: ({ spec }) => spec.source ?? '', wide: true },
    { header: 'MESSAGE', cell: ({ spec }) => spec.message ?? '', wide: true },
  ];
}

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3600_000, d: 24 * 3600_000 };

function durationMs(text: string): number {
  const [, amount, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  if (amount === undefined) throw new Error(`Cannot look back "${text}": it is no duration; write 30s, 15m, 6h or 7d`);
  return Number(amount) * UNITS[unit];
}
