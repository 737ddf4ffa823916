import { RunKind } from '../../api/kruntimes.io/v1alpha1/run.ts';
import { attempting } from '../terminal/explain.ts';
import { findRuns, type RunFilter } from './find-runs.ts';
import { outputFormat, printList } from '../terminal/print.ts';
import { runColumns } from './run-columns.ts';
import type { Session } from '../terminal/session.ts';

export async function list(session: Session, flags: RunFilter & { output?: string }): Promise<number> {
  const format = outputFormat(flags.output);
  const where = { server: session.cluster.server, namespace: session.namespace };
  const runs = await attempting('list Runs', where, () => findRuns(session, flags));
  const place = flags.allNamespaces ? 'in any namespace' : `in namespace "${session.namespace}"`;
  await printList(session, format, RunKind, runs, runColumns(new Date(session.clock.now())), `There are no such Runs ${place}`);
  return 0;
}
