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
  streams.stdout.on('data', keep);
  streams.stderr?.on('data', keep);
  const quiet = () => {};
  streams.stdout.on('error', quiet);
  streams.stderr?.on('error', quiet);
  const onAbort = () => streams.close();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    signal.throwIfAborted();
    const { exitCode } = await Promise.race([streams.ended, rejectedBy(signal)]);
    return { exitCode, output: Buffer.concat(chunks).subarray(0, MAX_OUTPUT_BYTES).toString('utf8') };
  } finally {
    signal.removeEventListener('abort', onAbort);
    streams.close();
  }
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
