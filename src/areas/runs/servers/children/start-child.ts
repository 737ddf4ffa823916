import type { StartChild } from './child.ts';
import { startNodeChild } from './node-child.ts';
import { posixCalls } from './posix-calls.ts';
import { posixChildren } from './posix-child.ts';

let chosen: StartChild | undefined;

/** Starts a process in the cheapest way that there is here. */
export const startChild: StartChild = (argv, options) => {
  if (chosen === undefined) {
    const calls = posixCalls();
    chosen = calls === undefined ? startNodeChild : posixChildren(calls);
  }
  return chosen(argv, options);
};
