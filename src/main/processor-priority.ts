import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, getPriority, setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';

const USUAL = 0;
const FEW_PROCESSORS = 2;
/** Three times the weight of a usual process: it gets its turn soon, and leaves a good part of its processor to others when it is busy itself. */
export const AHEAD = -5;
/**
 * For the one process whom everybody waits for: ten times the weight, and its turn at once beside any number of busy ones. Most of its work is done
 * on one thread, and the other processors are the others'; where there is only one, that would leave them too little of it.
 */
export const FAR_AHEAD = availableParallelism() > 1 ? -10 : AHEAD;
/** Where Linux weighs sessions against each other, as most distributions have it, priorities count only within one. */
const SESSION = '/proc/self/autogroup';

/**
 * Lets this process go before the programs that run on its behalf: everybody waits for what is done here, and a flood of one tenant's programs
 * would keep all of them waiting. Only root may; others share the machine as they are. What is started from here is an ordinary process again.
 */
export function goAhead(priority: number): void {
  // Threads that help to collect garbage take the processors that those need who wait for us, and on few of them save no time.
  if (availableParallelism() <= FEW_PROCESSORS) setFlagsFromString('--no-parallel-scavenge');
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || getPriority() !== USUAL) return;
  // To Linux each thread is on its own.
  for (const thread of readdirSync('/proc/self/task')) setIfThere(Number(thread), priority);
  subscribe('child_process', (message) => {
    const { process: child } = message as { process: ChildProcess };
    child.once('spawn', () => setIfThere(child.pid!, USUAL));
  });
  if (readSession().endsWith(` nice ${USUAL}\n`) && writeSession(priority)) process.once('exit', () => writeSession(USUAL));
}

/**
 * For a thread with work that nobody waits for at this moment: it has the priority of the one that made it. To Linux 0 is the calling thread; to
 * others it is the process, which is not ahead there.
 */
export function takeUsualTurns(): void {
  if (process.platform === 'linux' && getPriority(0) < USUAL) setIfThere(0, USUAL);
}

/** A thread or process that has ended meanwhile needs none; a container without the right to keeps what it has. */
function setIfThere(id: number, priority: number): void {
  try {
    setPriority(id, priority);
  } catch (error) {
    if (!['ESRCH', 'EACCES', 'EPERM'].includes((error as { info?: { code?: string } }).info?.code ?? '')) throw error;
  }
}

function readSession(): string {
  try {
    return readFileSync(SESSION, 'utf8');
  } catch {
    return '';
  }
}

/** @returns false where the machine weighs no sessions, or lets nobody in here say so */
function writeSession(priority: number): boolean {
  try {
    writeFileSync(SESSION, String(priority));
    return true;
  } catch {
    return false;
  }
}
