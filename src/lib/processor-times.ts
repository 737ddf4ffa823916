import { cpus } from 'node:os';

/** Of all processors together since the machine started, in the same unit. */
export interface ProcessorTimes {
  idle: number;
  total: number;
}

/** Of all processors: with more to spare nobody waits for anybody. */
const SPARE = 0.2;

export function processorTimes(): ProcessorTimes {
  const all = cpus().map(({ times: { idle, user, nice, sys, irq } }) => ({ idle, total: idle + user + nice + sys + irq }));
  return { idle: all.reduce((sum, each) => sum + each.idle, 0), total: all.reduce((sum, each) => sum + each.total, 0) };
}

/** Whether processors were scarce between two readings; nobody knows before the second. */
export function wereScarce(before: ProcessorTimes | undefined, now: ProcessorTimes): boolean {
  return before !== undefined && now.idle - before.idle < SPARE * (now.total - before.total);
}
