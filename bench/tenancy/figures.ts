import { readFileSync } from 'node:fs';

export function row(what: string, value: string, bar: string): void {
  console.log(`${what.padEnd(64)}${value.padStart(22)}   bar ${bar}`);
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

export function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : 0)} ms`;
}

/** Milliseconds of processor time that a process has had: what remains true on a busy machine. */
export function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  const ticksPerSecond = 100;
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
}

/** Until the process does next to nothing: what an earlier measurement left to do is not counted in the next. */
export async function settled(pid: number): Promise<void> {
  for (let before = processorMs(pid); ;) {
    await new Promise((resolve) => void setTimeout(resolve, 1000));
    const now = processorMs(pid);
    if (now - before < 100) return;
    before = now;
  }
}
