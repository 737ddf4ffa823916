import type { OutputChunk } from '../runs-api.ts';
import type { LogLine } from './log-lines.ts';

/**
 * What is kept of a Run's output does not say which stream each line was written to; its lines in the log do, but they leave out the
 * empty ones. Together they give the output as it was written. @returns undefined when the two do not belong together
 */
export function attributeStreams(text: string, lines: readonly LogLine[]): OutputChunk[] | undefined {
  const written = wholeLines(lines);
  const chunks: OutputChunk[] = [];
  let next = 0;
  for (const piece of text.split(/(?<=\n)/)) {
    const content = contentOf(piece);
    if (content !== '') {
      if (written[next]?.message !== content) return undefined;
      next++;
    }
    // An empty line goes with the one before it.
    append(chunks, content === '' ? (chunks.at(-1)?.stream ?? written[0]?.stream ?? 'stdout') : written[next - 1].stream, piece);
  }
  return next === written.length ? chunks : undefined;
}

/** Parts of a line are one line, whatever the other stream said between them. */
export function wholeLines(lines: readonly LogLine[]): LogLine[] {
  const whole: LogLine[] = [];
  const open = new Map<OutputChunk['stream'], LogLine>();
  for (const line of lines) {
    if (line.message === '') continue;
    const begun = open.get(line.stream);
    if (begun !== undefined) begun.message += line.message;
    else whole.push({ ...line });
    if (!line.partial) open.delete(line.stream);
    else if (begun === undefined) open.set(line.stream, whole.at(-1)!);
  }
  return whole;
}

function append(chunks: OutputChunk[], stream: OutputChunk['stream'], text: string): void {
  const last = chunks.at(-1);
  if (text === '') return;
  if (last?.stream === stream) last.text += text;
  else chunks.push({ stream, text });
}

/** What remains of the kept output after the lines that were shown. Nothing, when it is not clear where those end. */
export function unshownPart(text: string, shown: { count: number; last: string }, isTruncated: boolean): string {
  const pieces = text.split(/(?<=\n)/);
  let seen = 0;
  let end = -1;
  for (const [index, piece] of pieces.entries()) {
    const content = contentOf(piece);
    if (content === '') continue;
    seen++;
    if (content === shown.last && (isTruncated || seen === shown.count)) end = index;
  }
  return end < 0 ? '' : pieces.slice(end + 1).join('');
}

/** The last lines of the kept output, when it is known how many are missing. */
export function lastLines(text: string, missing: number): string {
  const pieces = text.split(/(?<=\n)/);
  let start = pieces.length;
  for (let left = missing; start > 0 && left > 0;) if (contentOf(pieces[--start]) !== '') left--;
  return pieces.slice(start).join('');
}

function contentOf(piece: string): string {
  return piece.endsWith('\n') ? piece.slice(0, -1) : piece;
}
