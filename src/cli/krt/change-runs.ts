import { isTerminal, phaseOf } from '../../api/kruntimes.io/v1alpha1/run-state.ts';
import { RunKind } from '../../api/kruntimes.io/v1alpha1/run.ts';
import { RuntimeKind } from '../../api/kruntimes.io/v1alpha1/runtime.ts';
import { requestCancel } from '../../sdk/runs.ts';
import { attempting } from '../terminal/explain.ts';
import { findRuns, type RunFilter } from './find-runs.ts';
import { FIELD_MANAGER, type Session } from '../terminal/session.ts';

export interface ChosenRuns extends Omit<RunFilter, 'allNamespaces'> {
  all?: boolean;
}

/** How many requests are under way at once when many Runs are meant. */
const AT_ONCE = 8;

export async function cancel(session: Session, names: string[], flags: ChosenRuns): Promise<number> {
  const chosen = await chosenNames(session, names, { ...flags, unfinished: true }, 'cancel');
  return forEach(session, chosen, 'cancel', async (name) => {
    const run = await requestCancel(session.cluster, session.namespace, name, FIELD_MANAGER);
    if (isTerminal(phaseOf(run))) session.out(`Run ${name} had ended already (${phaseOf(run)})\n`);
    else session.out(`Cancellation requested for run ${name}\n`);
  });
}

export async function deleteRuns(session: Session, names: string[], flags: ChosenRuns): Promise<number> {
  const chosen = await chosenNames(session, names, flags, 'delete');
  return forEach(session, chosen, 'delete', async (name) => {
    await session.cluster.client.resource(RunKind, session.namespace).delete(name);
    session.out(`run.${RunKind.group} "${name}" deleted\n`);
  });
}

export async function deleteRuntimes(session: Session, names: string[]): Promise<number> {
  const where = { server: session.cluster.server, namespace: session.namespace };
  for (const name of names) {
    await attempting(`delete Runtime "${name}"`, where, () => session.cluster.client.resource(RuntimeKind, session.namespace).delete(name));
    session.out(`runtime.${RuntimeKind.group} "${name}" deleted\n`);
  }
  return 0;
}

async function chosenNames(session: Session, names: string[], flags: ChosenRuns & RunFilter, verb: string): Promise<string[]> {
  const { all, ...filter } = flags;
  const isFiltered = all || filter.phase !== undefined || filter.selector !== undefined || filter.runtime !== undefined || filter.finished;
  if (names.length > 0 && isFiltered) throw new Error(`Cannot ${verb} by name and by filter at once: do one after the other`);
  if (names.length > 0) return names;
  if (!isFiltered) throw new Error(`Cannot ${verb} nothing: name Runs, or choose them with --all, --phase, --runtime or -l`);
  const where = { server: session.cluster.server, namespace: session.namespace };
  const runs = await attempting('list Runs', where, () => findRuns(session, filter));
  if (runs.length === 0) session.err(`There are no such Runs in namespace "${session.namespace}"\n`);
  return runs.map((run) => run.metadata.name!);
}

/** One that fails does not keep the others. */
async function forEach(session: Session, names: string[], verb: string, change: (name: string) => Promise<void>): Promise<number> {
  const where = { server: session.cluster.server, namespace: session.namespace };
  const queue = [...names];
  let failures = 0;
  const work = async (): Promise<void> => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      const chosen = name;
      try {
        await attempting(`${verb} Run "${chosen}"`, where, () => change(chosen));
      } catch (error) {
        failures++;
        session.err(`krt: ${(error as Error).message}\n`);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, queue.length) }, work));
  return failures === 0 ? 0 : 1;
}
