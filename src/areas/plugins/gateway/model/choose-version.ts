import type { Route } from '../../rollout/model/routes.ts';

/**
 * The versions to try for a request, the one that is meant for it first: by the weights, and `at` from 0 to 1 says where in them it falls. A
 * version without weight gets nothing new.
 */
export function versionsFor(routes: readonly Route[], at: number): Route[] {
  const open = routes.filter(({ weight }) => weight > 0);
  const total = open.reduce((sum, { weight }) => sum + weight, 0);
  let point = at * total;
  const first = open.find(({ weight }) => (point -= weight) < 0) ?? open.at(-1);
  return first === undefined ? [] : [first, ...open.filter((route) => route !== first)];
}
