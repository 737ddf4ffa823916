import { readFileSync } from 'node:fs';

/** Memory of a process, with what it shares with others in equal parts. */
export function proportionalBytes(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))![1]) * 1024;
}
