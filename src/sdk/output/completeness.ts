import type { Run } from '../../api/kruntimes.io/v1alpha1/run.ts';
import type { OutputChunk } from '../runs-api.ts';
import type { StoredOutput } from './stored-output.ts';

/** Whether all lines of a Run that is over were shown, as far as what was kept of them tells. */
export function isComplete(run: Run, stored: StoredOutput | undefined, shown: { count: number; last: string }): boolean {
  if (stored === undefined) return run.status?.exitCode !== undefined;
  const lines = stored.text.split('\n').filter((line) => line !== '');
  return (lines.at(-1) ?? '') === shown.last && (stored.truncated || lines.length <= shown.count);
}

/** The last lines of what was written. */
export function lastChunks(chunks: readonly OutputChunk[], tail: number | undefined): OutputChunk[] {
  if (tail === undefined) return [...chunks];
  const lines = chunks.flatMap(({ stream, text }) => text.split(/(?<=\n)/).map((line) => ({ stream, text: line })));
  return tail === 0 ? [] : lines.slice(-tail);
}
