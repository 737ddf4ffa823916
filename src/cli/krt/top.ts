import { RUNTIME_LABEL } from '../../api/kruntimes.io/v1alpha1/names.ts';
import { RunKind, type Run } from '../../api/kruntimes.io/v1alpha1/run.ts';
import { RuntimeKind } from '../../api/kruntimes.io/v1alpha1/runtime.ts';
import { Pod } from '../../client/kinds.ts';
import { formatAge } from '../../kube/age.ts';
import { isStatusError } from '../../kube/status.ts';
import { sleep } from '../../lib/abort.ts';
import { attempting } from '../terminal/explain.ts';
import { findRuns } from './find-runs.ts';
import { LiveScreen } from '../terminal/live-screen.ts';
import { runtimeUsages, type ClusterState, type Percentiles, type RuntimeUsage } from './runtime-usage.ts';
import { untilInterrupted, type Session } from '../terminal/session.ts';
import { formatTable, tableOf, type Column } from '../terminal/table.ts';

export interface TopFlags {
  allNamespaces?: boolean;
  watch?: boolean;
  output?: string;
}

/** Times are told of at most so many Runs that have ended. */
const SAMPLE = 500;
const REFRESH_MS = 2000;

/** How busy each Runtime is: places, what runs, what waits and for how long. */
export async function top(session: Session, flags: TopFlags): Promise<number> {
  if (flags.output !== undefined && !['table', 'wide', 'json'].includes(flags.output)) {
    throw new Error(`Cannot print as "${flags.output}": top knows table and json; choose one of them`);
  }
  const where = { server: session.cluster.server, namespace: session.namespace };
  const read = () => attempting('see how busy the Runtimes are', where, () => readUsages(session, flags));
  if (flags.watch && session.isTerminal) {
    await untilInterrupted(session, (signal) => keepShowing(session, read, signal));
    return 0;
  }
  const usages = await read();
  if (flags.output === 'json') session.out(`${JSON.stringify(usages, null, 4)}\n`);
  else if (usages.length === 0)
    session.err(`There are no Runtimes ${flags.allNamespaces ? 'in any namespace' : `in namespace "${session.namespace}"`}\n`);
  else for (const line of linesOf(session, usages)) session.out(`${line}\n`);
  return 0;
}

async function keepShowing(session: Session, read: () => Promise<RuntimeUsage[]>, signal: AbortSignal): Promise<void> {
  let usages = await read();
  const screen = new LiveScreen(session, () => linesOf(session, usages));
  try {
    for (;;) {
      await sleep(session.clock, REFRESH_MS, signal);
      usages = await read();
      screen.changed();
    }
  } finally {
    screen.close();
  }
}

async function readUsages(session: Session, flags: TopFlags): Promise<RuntimeUsage[]> {
  const namespace = flags.allNamespaces ? undefined : session.namespace;
  const { client } = session.cluster;
  const [runtimes, pods, runs, finished] = await Promise.all([
    client.resource(RuntimeKind, namespace).listAll(),
    client.resource(Pod, namespace).listAll({ labelSelector: RUNTIME_LABEL }),
    findRuns(session, { allNamespaces: flags.allNamespaces, unfinished: true }),
    sampleOfFinished(session, namespace),
  ]);
  const state: ClusterState = { runtimes: runtimes.items, pods: pods.items, runs, finished };
  return runtimeUsages(state, session.clock.now());
}

async function sampleOfFinished(session: Session, namespace: string | undefined): Promise<Run[]> {
  const runs = session.cluster.client.resource(RunKind, namespace);
  try {
    return (await runs.list({ limit: SAMPLE, fieldSelector: 'status.phase=Succeeded' })).items;
  } catch (error) {
    if (!isStatusError(error, 'BadRequest')) throw error;
    return (await runs.list({ limit: SAMPLE })).items.filter((run) => run.status?.phase === 'Succeeded');
  }
}

const COLUMNS: Column<RuntimeUsage>[] = [
  { header: 'RUNTIME', cell: ({ runtime }) => runtime },
  { header: 'NAMESPACE', cell: ({ namespace }) => namespace },
  {
    header: 'PODS',
    cell: (usage) => (usage.isMissing ? { text: '<no such runtime>', colour: 'red' } : `${usage.readyPods}/${usage.pods}`),
  },
  { header: 'CAPACITY', cell: ({ capacity }) => String(capacity) },
  {
    header: 'ACTIVE',
    cell: ({ active, capacity }) => ({ text: String(active), colour: active >= capacity && active > 0 ? 'yellow' : undefined }),
  },
  { header: 'WAITING', cell: ({ waiting }) => ({ text: String(waiting), colour: waiting > 0 ? 'yellow' : undefined }) },
  { header: 'LONGEST WAIT', cell: ({ longestWait }) => (longestWait === undefined ? '-' : formatAge(longestWait)) },
  { header: 'WAIT P50/P95', cell: ({ waits }) => percentilesText(waits) },
  { header: 'RUN P50/P95', cell: ({ durations }) => percentilesText(durations) },
];

function linesOf(session: Session, usages: RuntimeUsage[]): string[] {
  const { header, rows } = tableOf(COLUMNS, usages, false);
  return formatTable(header, rows, { isColoured: session.isColoured });
}

/** The API keeps times in whole seconds. */
function percentilesText(values: Percentiles | undefined): string {
  const text = (value: number) => (value < 1000 ? '<1s' : formatAge(value));
  return values === undefined ? '-' : `${text(values.p50)}/${text(values.p95)}`;
}
