import { RunKind } from '../../api/kruntimes.io/v1alpha1/run.ts';
import { UNFINISHED } from '../../api/kruntimes.io/v1alpha1/run-state.ts';
import { NAMESPACES_BELOW, RUNS_IN_FLIGHT } from '../../api/tenantry.dev/v1alpha1/names.ts';
import { TenantKind, type Tenant } from '../../api/tenantry.dev/v1alpha1/tenant.ts';
import { ResourceQuota } from '../../client/kinds.ts';
import { HRQ_LABEL, HRQ_SINGLETON } from '../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { sleep } from '../../lib/abort.ts';
import { attempting } from '../terminal/explain.ts';
import { LiveScreen } from '../terminal/live-screen.ts';
import { untilInterrupted, type Session } from '../terminal/session.ts';
import { formatTable } from '../terminal/table.ts';
import { resourceText, usageRows, USAGE_HEADER } from './usage-rows.ts';

const REFRESH_MS = 2000;

interface Usage {
  tenant: Tenant;
  /** What each namespace uses of the tenant's quota, where it may be known. */
  namespaces: { name: string; used?: Record<string, string> }[];
}

/** What a tenant uses of its quota, in all and by namespace. */
export async function usage(session: Session, name: string, flags: { watch?: boolean; output?: string }): Promise<number> {
  if (flags.output !== undefined && !['table', 'json'].includes(flags.output))
    throw new Error(`Cannot print as "${flags.output}": usage knows table and json; choose one of them`);
  const where = { server: session.cluster.server, namespace: session.namespace };
  const read = () => attempting(`see what tenant "${name}" uses`, where, () => readUsage(session, name));
  if (flags.watch && session.isTerminal) {
    await untilInterrupted(session, (signal) => keepShowing(session, read, signal));
    return 0;
  }
  const found = await read();
  if (flags.output === 'json')
    session.out(`${JSON.stringify({ tenant: name, usage: found.tenant.status?.usage ?? {}, namespaces: found.namespaces }, null, 4)}\n`);
  else for (const line of linesOf(session, found)) session.out(`${line}\n`);
  return 0;
}

async function keepShowing(session: Session, read: () => Promise<Usage>, signal: AbortSignal): Promise<void> {
  let found = await read();
  const screen = new LiveScreen(session, () => linesOf(session, found));
  try {
    for (;;) {
      await sleep(session.clock, REFRESH_MS, signal);
      found = await read();
      screen.changed();
    }
  } finally {
    screen.close();
  }
}

async function readUsage(session: Session, name: string): Promise<Usage> {
  const { client } = session.cluster;
  const tenant = await client.resource(TenantKind).get(name);
  const names = tenant.status?.namespaces ?? [];
  const quotas = await Promise.all(
    names.map((namespace) => ifAllowed(client.resource(ResourceQuota, namespace).list({ labelSelector: `${HRQ_LABEL}=true` }))),
  );
  const runs = tenant.status?.usage?.[RUNS_IN_FLIGHT]
    ? await Promise.all(names.map((namespace) => ifAllowed(runsIn(session, namespace))))
    : [];
  const namespaces = names.map((name, index) => ({
    name,
    used: quotas[index] && { ...usedIn(quotas[index].items), ...runs[index] },
  }));
  return { tenant, namespaces };
}

/** What the platform does in a tenant is none of its owners' business, and no reason to show them nothing. */
async function ifAllowed<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isStatusError(error, 'Forbidden')) return undefined;
    throw error;
  }
}

/** Runs that have not ended are in no ResourceQuota. */
async function runsIn({ cluster: { client } }: Session, namespace: string): Promise<Record<string, string>> {
  const { items } = await client.metadata(RunKind, namespace).listAll({ fieldSelector: UNFINISHED });
  return { [RUNS_IN_FLIGHT]: String(items.length) };
}

function usedIn(quotas: readonly KubeObject[]): Record<string, string> {
  const used: Record<string, string> | undefined = quotas.find(({ metadata }) => metadata.name === HRQ_SINGLETON)?.status?.used;
  return used ?? {};
}

function linesOf(session: Session, { tenant, namespaces }: Usage): string[] {
  const rows = usageRows(tenant);
  if (rows.length === 0) {
    return [
      `Tenant "${tenant.metadata.name}" has no quota; set one with: kubectl patch tenant ${tenant.metadata.name} --type merge -p '{"spec":{"quota":{"hard":{"cpu":"4"}}}}'`,
    ];
  }
  const resources = Object.keys(tenant.status?.usage ?? {})
    .filter((resource) => resource !== NAMESPACES_BELOW)
    .sort();
  const table = namespaces.flatMap(({ name, used }) => (used ? [[name, ...resources.map((resource) => used[resource] ?? '0')]] : []));
  if (resources.length === 0) return formatTable(USAGE_HEADER, rows, { isColoured: session.isColoured });
  const options = { isColoured: session.isColoured };
  return [
    ...formatTable(USAGE_HEADER, rows, options),
    '',
    ...formatTable(['NAMESPACE', ...resources.map((resource) => resourceText(resource).toUpperCase())], table, options),
  ];
}
