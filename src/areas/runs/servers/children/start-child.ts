import type { Orphans, StartChild } from './child.ts';
import { startNodeChild } from './node-child.ts';
import { posixCalls } from './posix-calls.ts';
import { posixChildren, type PosixChildren } from './posix-child.ts';

let chosen: PosixChildren | undefined;

function ways(): PosixChildren {
  if (chosen !== undefined) return chosen;
  const calls = posixCalls();
  return (chosen = calls === undefined ? { start: startNodeChild, orphans: () => undefined } : posixChildren(calls));
}

/** Starts a process in the cheapest way that there is here. */
export const startChild: StartChild = (argv, options) => ways().start(argv, options);

/** Takes the children of children that lose their parent. @returns undefined where that cannot be had */
export function takeOrphans(): Orphans | undefined {
  return ways().orphans();
}
