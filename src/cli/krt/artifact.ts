import { statSync } from 'node:fs';
import { join } from 'node:path';
import { RunKind, type ArtifactReference } from '../../api/kruntimes.io/v1alpha1/run.ts';
import { artifactNamed } from '../../sdk/artifacts/artifact-references.ts';
import { attempting } from '../terminal/explain.ts';
import { readRun } from './get.ts';
import { isForPeople, outputFormat, printObjects } from '../terminal/print.ts';
import { ProgressLine } from './progress-line.ts';
import { untilInterrupted, type Session } from '../terminal/session.ts';
import { formatTable, tableOf, type Column } from '../terminal/table.ts';

const COLUMNS: Column<ArtifactReference>[] = [
  { header: 'NAME', cell: ({ name }) => name },
  { header: 'TYPE', cell: ({ type }) => type },
  { header: 'SIZE', cell: ({ sizeBytes }) => String(sizeBytes) },
  { header: 'CONTENT-TYPE', cell: ({ contentType }) => contentType ?? '' },
  { header: 'DIGEST', cell: ({ digest }) => digest ?? '' },
];

export async function listArtifacts(session: Session, runName: string, flags: { output?: string }): Promise<number> {
  const format = outputFormat(flags.output);
  const run = await readRun(session, runName);
  const references = run.status?.artifactRefs ?? [];
  if (format.kind === 'name') session.out(references.map(({ name }) => `${name}\n`).join(''));
  else if (format.kind === 'json') session.out(`${JSON.stringify(references, null, 4)}\n`);
  else if (format.kind === 'yaml') session.out((await import('yaml')).stringify(references, { lineWidth: 0 }));
  else if (!isForPeople(format)) await printObjects(session, format, RunKind, run);
  else if (references.length === 0) session.err(`Run ${runName} has no artifacts\n`);
  else {
    const { header, rows } = tableOf(COLUMNS, references, format.kind === 'wide');
    for (const line of formatTable(header, rows)) session.out(`${line}\n`);
  }
  return 0;
}

export async function downloadRunArtifact(session: Session, runName: string, name: string, flags: { output?: string }): Promise<number> {
  const run = await readRun(session, runName);
  const reference = artifactNamed(run, name);
  const file = destination(reference, flags.output);
  const { downloadArtifact } = await import('../../sdk/artifacts/download.ts');
  const progress = new ProgressLine(session);
  const where = { server: session.cluster.server, namespace: session.namespace };
  const done = await untilInterrupted(session, (signal) =>
    attempting(`download artifact "${name}" of Run "${runName}"`, where, () =>
      downloadArtifact(session.cluster, run, name, file, { signal, onProgress: (bytes, total) => progress.show(bytes, total) }),
    ).finally(() => progress.clear()),
  );
  if (done === undefined) return 130;
  session.out(`Downloaded ${name} (${done.type}, ${done.sizeBytes} bytes) to ${file}\n`);
  return 0;
}

/** A directory travels as an archive. Into a folder that exists it goes under its own name. */
function destination({ name, type }: ArtifactReference, output: string | undefined): string {
  const own = type === 'directory' ? `${name}.tar.gz` : name;
  if (own.includes('/') || own === '..' || own === '.')
    throw new Error(`Cannot write artifact "${name}": its name is a path; choose a file with -o`);
  if (output === undefined) return own;
  return statSync(output, { throwIfNoEntry: false })?.isDirectory() ? join(output, own) : output;
}
