import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { text } from 'node:stream/consumers';
import type { Session } from '../cli/terminal/session.ts';
import { realClock } from '../lib/clock.ts';
import { openCluster } from '../sdk/cluster.ts';
import type { ClusterOptions } from '../sdk/runs-api.ts';
import { dataDirectory } from './data-directory.ts';
import { productVersion } from './product-version.ts';

/** Connects as the flags say, does the work, and exits with what it returns. */
export async function inSession(
  flags: ClusterOptions & { asGroup?: string[] },
  work: (session: Session) => Promise<number>,
): Promise<void> {
  const { env, stdout, stderr } = process;
  const options = { ...flags, asGroups: flags.asGroup };
  const cluster = await openCluster(options, { env, home: homedir(), userAgent: `krt/${productVersion()}`, dataDirectory });
  // Whoever reads us may have seen enough: `krt logs ... | head`.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
  });
  const isTerminal = stdout.isTTY === true;
  try {
    process.exitCode = await work({
      out: (written) => void stdout.write(written),
      err: (written) => void stderr.write(written),
      isTerminal,
      errIsTerminal: stderr.isTTY === true,
      isColoured: isTerminal && !env.NO_COLOR && env.TERM !== 'dumb',
      size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
      read: (file) => (file === '-' ? text(process.stdin) : readFile(file, 'utf8')),
      line: typedLine,
      env,
      clock: realClock,
      onInterrupt,
      cluster,
      namespace: cluster.namespace,
    });
  } finally {
    await cluster.client.close();
  }
}

async function typedLine(): Promise<string> {
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: process.stdin });
  for await (const line of lines) return line;
  return '';
}

function onInterrupt(listener: () => void): () => void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, listener);
  return () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeListener(signal, listener);
  };
}
