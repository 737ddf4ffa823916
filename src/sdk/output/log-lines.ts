import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { OutputChunk } from '../runs-api.ts';

/** One line that a Run wrote, as runtimed reports it in its own log. */
export interface LogLine {
  stream: OutputChunk['stream'];
  message: string;
  /** When it was written; not every runtimed says. */
  time?: number;
  /** Empty lines before it. */
  blank?: number;
  /** The line goes on with the next of its stream, or was never ended. */
  partial?: boolean;
}

/** The line as it was written. */
export function lineText({ message, blank = 0, partial }: LogLine): string {
  return `${'\n'.repeat(blank)}${message}${partial ? '' : '\n'}`;
}

/** A line longer than this is not one that runtimed wrote. */
const LONGEST_LINE = 1 << 20;

/** Whatever a log says: nobody wants to see more empty lines than this. */
const MOST_BLANK = 10_000;

/** The lines of one Run out of runtimed's log, which has those of all Runs of the Pod. Destroys the log when the caller stops. */
export async function* linesOfRun(log: Readable, uid: string): AsyncGenerator<LogLine, void, void> {
  const mark = JSON.stringify(uid);
  const decoder = new StringDecoder('utf8');
  let rest = '';
  try {
    for await (const chunk of log) {
      rest += decoder.write(chunk as Buffer);
      let start = 0;
      for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n', start)) {
        const line = parseLine(rest.slice(start, end), uid, mark);
        start = end + 1;
        if (line !== undefined) yield line;
      }
      rest = rest.slice(start);
      if (rest.length > LONGEST_LINE) rest = '';
    }
    const last = parseLine(rest, uid, mark);
    if (last !== undefined) yield last;
  } finally {
    log.destroy();
  }
}

function parseLine(text: string, uid: string, mark: string): LogLine | undefined {
  // Most lines are of other Runs: they are not worth parsing.
  if (!text.includes(mark)) return undefined;
  let entry: { run_uid?: unknown; stream?: unknown; message?: unknown; time?: unknown; blank?: unknown; partial?: unknown };
  try {
    entry = JSON.parse(text) as typeof entry;
  } catch {
    return undefined;
  }
  if (entry.run_uid !== uid || typeof entry.message !== 'string') return undefined;
  const time = typeof entry.time === 'string' ? Date.parse(entry.time) : NaN;
  return {
    stream: entry.stream === 'stderr' ? 'stderr' : 'stdout',
    message: entry.message,
    ...(Number.isNaN(time) ? {} : { time }),
    ...(typeof entry.blank === 'number' && entry.blank > 0 ? { blank: Math.min(entry.blank, MOST_BLANK) } : {}),
    ...(entry.partial === true ? { partial: true } : {}),
  };
}
