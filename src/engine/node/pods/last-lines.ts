import { readLog } from '../server/log-reader.ts';

/** What a status has room for. */
const LINES = 80;
const BYTES = 2048;

/** The end of a container's log, for a termination message. */
export async function lastLines(path: string): Promise<string> {
  const options = { follow: false, previous: false, timestamps: false, tailLines: LINES, stream: 'All' as const };
  const chunks: Buffer[] = [];
  const stream = readLog({ path, options, ended: Promise.resolve(), signal: new AbortController().signal });
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).subarray(-BYTES).toString('utf8');
}
