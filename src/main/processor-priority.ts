import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

const USUAL = 0;
/** Three times the weight of a usual process, so that it gets its turn beside any number of busy ones, and leaves them theirs. */
const AHEAD = -5;
/** Where Linux weighs sessions against each other, as most distributions have it, priorities count only within one. */
const SESSION = '/proc/self/autogroup';

/**
 * Lets this process go before the programs that run on its behalf: everybody's requests pass here, and a flood of one tenant's programs would
 * keep all of them waiting. Only root may; others share the machine as they are. What is started from here is an ordinary process again.
 */
export function goAhead(): void {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || getPriority() !== USUAL) return;
  // To Linux each thread is on its own.
  for (const thread of readdirSync('/proc/self/task')) setIfThere(Number(thread), AHEAD);
  subscribe('child_process', (message) => {
    const { process: child } = message as { process: ChildProcess };
    child.once('spawn', () => setIfThere(child.pid!, USUAL));
  });
  if (readSession().endsWith(` nice ${USUAL}\n`) && writeSession(AHEAD)) process.once('exit', () => writeSession(USUAL));
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
