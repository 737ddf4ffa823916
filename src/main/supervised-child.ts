import type { ChildProcess } from 'node:child_process';
import { builtProgram } from '../lib/built-program.ts';
import { realClock } from '../lib/clock.ts';

/** A program that a supervisor starts. @throws when the product is not built */
export function programOf(what: string, file: string): string {
  const path = builtProgram(file);
  if (path !== undefined) return path;
  throw new Error(`Cannot start ${what}: its program ${file} is not beside this one; build the product first`);
}

export function isRunning(child: ChildProcess | undefined): child is ChildProcess {
  return child !== undefined && child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

export function send(child: ChildProcess, message: object): void {
  if (child.connected) child.send(message);
}

/** Tells a child to stop and waits until it is gone; when its time is over it is killed. */
export async function stopChild(child: ChildProcess, message: object, patienceMs: number, onKill: () => void = () => {}): Promise<void> {
  const exited = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  // Whoever is still starting reads it when it is ready.
  send(child, message);
  const patience = realClock.setTimer(patienceMs, () => {
    onKill();
    child.kill('SIGKILL');
  });
  patience.hold?.();
  await exited;
  patience.cancel();
}

/** How a program on this machine reaches a server that listens on all of its addresses. */
export function localUrl(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}
