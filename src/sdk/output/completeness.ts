import type { Run } from '../../api/kruntimes.io/v1alpha1/run.ts';
import type { OutputChunk } from '../runs-api.ts';
import type { StoredOutput } from './stored-output.ts';

export interface ShownLines {
  /** Of the log: parts of long lines count each. */
  entries: number;
  count: number;
  last: string;
}

/** Whether all lines of a Run that is over were shown, as far as what was kept of them tells. */
export function isComplete(run: Run, stored: StoredOutput | undefined, shown: ShownLines): boolean {
  if (stored === undefined) return run.status?.exitCode !== undefined;
  const { lines } = run.status?.log ?? {};
  if (lines !== undefined) return shown.entries >= lines;
  const kept = stored.text.split('\n').filter((line) => line !== '');
  return !stored.truncated && kept.length <= shown.count && (kept.at(-1) ?? '') === shown.last;
}

/** The last lines of what was written. */
export function lastChunks(chunks: readonly OutputChunk[], tail: number | undefined): OutputChunk[] {
  if (tail === undefined) return [...chunks];
  const lines = chunks.flatMap(({ stream, text }) => text.split(/(?<=\n)/).map((line) => ({ stream, text: line })));
  return tail === 0 ? [] : lines.slice(-tail);
}
