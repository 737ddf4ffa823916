import { spawn } from 'node:child_process';
import { CONCURRENCY } from './some-runs.ts';

/** The least that a Run can cost: a process of bash, with its output read. */
export async function bareSpawns(count: number): Promise<number> {
  const started = performance.now();
  let left = count;
  const worker = async () => {
    while (left-- > 0) {
      await new Promise<void>((resolve) =>
        spawn('bash', ['-c', 'true'], { stdio: ['ignore', 'pipe', 'pipe'] }).once('close', () => resolve()),
      );
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return count / ((performance.now() - started) / 1000);
}
