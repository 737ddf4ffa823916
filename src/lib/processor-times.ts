import { closeSync, openSync, readSync } from 'node:fs';
import { cpus } from 'node:os';

/** Of all processors together since the machine started, in the same unit. */
export interface ProcessorTimes {
  idle: number;
  total: number;
}

/** Of all processors: with more to spare nobody waits for anybody. */
const SPARE = 0.2;

/** Ten numbers of 64 bits fit in. */
const FIRST_LINE = Buffer.alloc(256);

/** One line in which the kernel has summed up all processors; where there is none (macOS) each is asked, and that costs more the more there are. */
export function processorTimes(stat = '/proc/stat'): ProcessorTimes {
  return parseProcessorTimes(beginOf(stat)) ?? timesOfEach();
}

/** Who waits for a disk leaves the processor to others; what the hosts of a virtual machine took from it is not there for anybody. */
function parseProcessorTimes(stat: string): ProcessorTimes | undefined {
  const numbers = /^cpu +([\d ]+)\n/.exec(stat)?.[1].trim().split(' ').map(Number);
  if (numbers === undefined || numbers.length < 4) return undefined;
  // The guests' time that may follow is part of the users'.
  const [user, nice, system, idle, ioWait = 0, irq = 0, softIrq = 0, steal = 0] = numbers;
  return { idle: idle + ioWait, total: user + nice + system + idle + ioWait + irq + softIrq + steal };
}

/** @returns '' where there is no such file */
function beginOf(file: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    return FIRST_LINE.toString('latin1', 0, readSync(descriptor, FIRST_LINE));
  } catch {
    return '';
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function timesOfEach(): ProcessorTimes {
  const all = cpus().map(({ times: { idle, user, nice, sys, irq } }) => ({ idle, total: idle + user + nice + sys + irq }));
  return { idle: all.reduce((sum, each) => sum + each.idle, 0), total: all.reduce((sum, each) => sum + each.total, 0) };
}

/** Whether processors were scarce between two readings; nobody knows before the second. */
export function wereScarce(before: ProcessorTimes | undefined, now: ProcessorTimes): boolean {
  return before !== undefined && now.idle - before.idle < SPARE * (now.total - before.total);
}
