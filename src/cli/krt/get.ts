import { attemptOf, phaseOf } from '../../api/kruntimes.io/v1alpha1/run-state.ts';
import { RunKind, type Run } from '../../api/kruntimes.io/v1alpha1/run.ts';
import { ageOf } from '../../kube/age.ts';
import { attempting } from '../terminal/explain.ts';
import { outputFormat, printBlock, printList, printObjects } from '../terminal/print.ts';
import { durationOf, runColumns } from './run-columns.ts';
import type { Session } from '../terminal/session.ts';

export async function get(session: Session, names: string[], flags: { output?: string }): Promise<number> {
  const format = outputFormat(flags.output);
  const runs: Run[] = [];
  for (const name of names) runs.push(await readRun(session, name));
  if (format.kind === 'wide') await printList(session, format, RunKind, runs, runColumns(new Date(session.clock.now())), '');
  else if (format.kind !== 'table') await printObjects(session, format, RunKind, runs.length === 1 ? runs[0] : runs);
  else {
    for (const [index, run] of runs.entries()) {
      if (index > 0) session.out('\n');
      describe(session, run);
    }
  }
  return 0;
}

export function readRun(session: Session, name: string): Promise<Run> {
  const where = { server: session.cluster.server, namespace: session.namespace };
  return attempting(`find Run "${name}"`, where, () => session.cluster.client.resource(RunKind, session.namespace).get(name));
}

function describe(session: Session, run: Run): void {
  const { metadata, spec, status } = run;
  const now = new Date(session.clock.now());
  const since = (time: string | undefined) => (time === undefined ? undefined : `${time} (${ageOf(time, now)} ago)`);
  const lines = (values: string[] | undefined) => values?.join('\n');
  printBlock(session, [
    ['Name', metadata.name],
    ['Namespace', metadata.namespace],
    ['Labels', lines(Object.entries(metadata.labels ?? {}).map(([name, value]) => `${name}=${value}`))],
    ['Runtime', spec.runtime],
    ['Phase', phaseOf(run)],
    ['Message', status?.message],
    ['Exit code', status?.exitCode?.toString()],
    ['Assigned pod', status?.assignedPod],
    [
      'Attempt',
      spec.retryPolicy?.maxAttempts === undefined ? String(attemptOf(run)) : `${attemptOf(run)} of ${spec.retryPolicy.maxAttempts}`,
    ],
    ['Created', since(metadata.creationTimestamp)],
    ['Started', since(status?.startTime)],
    ['Completed', since(status?.completionTime)],
    ['Duration', durationOf(run, now)],
    ['Start', status?.start],
    ['Timeout', spec.timeout],
    ['Priority', spec.priority?.toString()],
    ['Cancel', spec.cancelRequested ? 'requested' : undefined],
    ['Repository', spec.source?.repoURL && `${spec.source.repoURL}${spec.source.commitSHA ? ` at ${spec.source.commitSHA}` : ''}`],
    ['Script', spec.source?.inline === undefined ? undefined : `${spec.source.inline.length} characters`],
    ['Entrypoint', spec.mode.task?.entrypoint],
    ['Args', lines(spec.mode.task?.args)],
    ['Outputs', lines(Object.entries(status?.outputs ?? {}).map(([name, value]) => `${name}=${value}`))],
    ['Artifacts', lines(status?.artifactRefs?.map(({ name, type, sizeBytes }) => `${name} (${type}, ${sizeBytes} bytes)`))],
    [
      'Conditions',
      lines(status?.conditions?.map(({ type, status, reason, message }) => `${type}=${status} ${reason}${message ? `: ${message}` : ''}`)),
    ],
  ]);
}
