import { PluginInstallationKind, type PluginInstallation } from '../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { ageOf } from '../../kube/age.ts';
import { attempting } from '../terminal/explain.ts';
import { outputFormat, printList } from '../terminal/print.ts';
import type { Session } from '../terminal/session.ts';
import type { Cell, Colour, Column } from '../terminal/table.ts';

const PHASE_COLOURS: Record<string, Colour> = {
  ACTIVE: 'green',
  FAILED: 'red',
  INSTALLING: 'cyan',
  UPGRADING: 'cyan',
  ROLLED_BACK: 'yellow',
  SUSPENDED: 'grey',
  UNINSTALLING: 'grey',
};

/** The plugins of a tenant, or of all. */
export async function list(session: Session, flags: { tenant?: string; output?: string }): Promise<number> {
  const format = outputFormat(flags.output);
  const where = { server: session.cluster.server, namespace: flags.tenant ?? session.namespace };
  const { items } = await attempting('list plugins', where, () =>
    session.cluster.client.resource(PluginInstallationKind, flags.tenant).listAll(),
  );
  const nothing = 'There are no plugins; `tenantry plugin install <publisher>/<plugin> --tenant <tenant>` installs one';
  await printList(session, format, PluginInstallationKind, items, columns(new Date(session.clock.now())), nothing);
  return 0;
}

function columns(now: Date): Column<PluginInstallation>[] {
  return [
    { header: 'TENANT', cell: ({ metadata }) => metadata.namespace! },
    { header: 'NAME', cell: ({ metadata }) => metadata.name! },
    { header: 'PLUGIN', cell: ({ spec }) => `${spec.publisher}/${spec.plugin}` },
    { header: 'VERSION', cell: ({ status }) => status?.version ?? '' },
    { header: 'PHASE', cell: ({ status }) => phaseCell(status?.phase) },
    { header: 'IMAGE', cell: ({ status }) => status?.imageStatus ?? '' },
    { header: 'AGE', cell: ({ metadata }) => ageOf(metadata.creationTimestamp, now) },
    { header: 'MESSAGE', cell: ({ status }) => status?.message ?? '', wide: true },
  ];
}

export function phaseCell(phase = 'NEW'): Cell {
  return { text: phase, colour: PHASE_COLOURS[phase] };
}
