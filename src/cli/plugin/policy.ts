import { PluginPolicyKind, type PluginPolicy } from '../../api/plugins.tenantry.dev/v1alpha1/plugin-policy.ts';
import { findCondition } from '../../kube/conditions.ts';
import { isStatusError } from '../../kube/status.ts';
import { attempting } from '../terminal/explain.ts';
import { outputFormat, printList } from '../terminal/print.ts';
import type { Session } from '../terminal/session.ts';
import type { Column } from '../terminal/table.ts';

export interface PolicyFlags {
  tenant: string;
  /** Absent: show. */
  mode?: string;
  plugin?: string[];
  percent?: string;
  pause?: string;
  output?: string;
}

const MODES = ['pinned', 'minor-auto', 'canary', 'none'] as const;
/** The policy of all plugins that none names. */
const OF_ALL = 'default';

/** How the plugins of a tenant follow new versions: shows it, or sets it for some plugins or for all others. */
export async function policy(session: Session, flags: PolicyFlags): Promise<number> {
  if (flags.mode === undefined) return show(session, flags);
  const spec = specOf(flags);
  const where = { server: session.cluster.server, namespace: flags.tenant };
  const policies = session.cluster.client.resource(PluginPolicyKind, flags.tenant);
  const names = flags.plugin ?? [];
  for (const plugin of names.length > 0 ? names : [undefined]) {
    const name = plugin ?? OF_ALL;
    const what = plugin === undefined ? 'plugins that no other policy names' : `plugin ${plugin}`;
    await attempting(`set the policy of ${what}`, where, async () => {
      if (spec === undefined) return remove(() => policies.delete(name));
      const wanted = { metadata: { name }, spec: { ...spec, ...(plugin === undefined ? {} : { plugins: [plugin] }) } };
      return policies.apply(wanted, { fieldManager: 'tenantry-cli', force: true });
    });
    session.out(spec === undefined ? `${what}: no policy, so pinned\n` : `${what}: ${spec.mode}\n`);
  }
  return 0;
}

function specOf({ mode, percent, pause }: PolicyFlags): PluginPolicy['spec'] | undefined {
  const known = MODES.find((each) => each === mode);
  if (known === undefined)
    throw new Error(`Cannot set the policy "${mode}": there is none of that name; write pinned, minor-auto, canary or none`);
  if (known !== 'canary' && (percent ?? pause) !== undefined) {
    throw new Error(`Cannot set the policy "${mode}": --percent and --pause belong to canary; leave them out`);
  }
  if (known === 'none') return undefined;
  if (known !== 'canary') return { mode: known };
  return {
    mode: known,
    ...(percent === undefined ? {} : { canaryPercent: whole(percent, '--percent') }),
    ...(pause === undefined ? {} : { canaryPauseSeconds: whole(pause, '--pause') }),
  };
}

function whole(text: string, flag: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new Error(`Cannot read "${text}" of ${flag}: write a whole number`);
  return Number(text);
}

async function remove(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}

async function show(session: Session, { tenant, plugin, output }: PolicyFlags): Promise<number> {
  const format = outputFormat(output);
  const where = { server: session.cluster.server, namespace: tenant };
  const { items } = await attempting('list policies', where, () => session.cluster.client.resource(PluginPolicyKind, tenant).listAll());
  const shown = plugin === undefined ? items : items.filter(({ spec }) => (spec.plugins ?? plugin).some((each) => plugin.includes(each)));
  const nothing = `There is no policy in ${tenant}: its plugins stay at the versions that they have`;
  await printList(session, format, PluginPolicyKind, shown, COLUMNS, nothing);
  return 0;
}

const COLUMNS: Column<PluginPolicy>[] = [
  { header: 'NAME', cell: ({ metadata }) => metadata.name! },
  { header: 'MODE', cell: ({ spec }) => spec.mode },
  { header: 'PLUGINS', cell: ({ spec }) => (spec.plugins?.length ? spec.plugins.join(',') : 'all others') },
  {
    header: 'CANARY',
    cell: ({ spec }) => (spec.mode === 'canary' ? `${spec.canaryPercent ?? 10}% for ${spec.canaryPauseSeconds ?? 300}s` : ''),
  },
  { header: 'IN FORCE', cell: ({ status }) => findCondition(status?.conditions, 'InForce')?.status ?? '' },
  { header: 'MESSAGE', cell: ({ status }) => findCondition(status?.conditions, 'InForce')?.message ?? '', wide: true },
];
