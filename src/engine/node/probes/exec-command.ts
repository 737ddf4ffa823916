import type { Readable } from 'node:stream';
import { orAborted } from '../../../lib/abort.ts';
import type { ProgramStreams } from '../shim/shim.ts';
import { MAX_OUTPUT_BYTES } from './probe-outcome.ts';

/** Waits for the end of a command in a container and keeps the beginning of what it said. Killed when the signal fires. */
export async function commandResult(streams: ProgramStreams, signal: AbortSignal): Promise<{ exitCode: number; output: string }> {
  const chunks: Buffer[] = [];
  let length = 0;
  const keep = (chunk: Buffer) => {
    if (length < MAX_OUTPUT_BYTES) chunks.push(chunk);
    length += chunk.length;
  };
  const outputs = [streams.stdout, ...(streams.stderr ? [streams.stderr] : [])];
  for (const output of outputs) output.on('data', keep);
  const drained = Promise.all(outputs.map(closed));
  try {
    const { exitCode } = await orAborted(streams.ended, signal);
    // What it said may come after the news of its end. Something that it left behind may hold the pipe for ever: not longer than allowed.
    await orAborted(drained, signal).catch(() => {});
    return { exitCode, output: Buffer.concat(chunks).subarray(0, MAX_OUTPUT_BYTES).toString('utf8') };
  } finally {
    streams.close();
  }
}

function closed(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    stream.once('end', resolve);
    stream.once('close', resolve);
    stream.once('error', () => resolve());
  });
}
