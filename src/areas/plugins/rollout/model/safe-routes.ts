import type { Route } from './routes.ts';

export interface RoutesSituation {
  routes: readonly Route[];
  /** The version that was healthy last. */
  atWork: string | undefined;
  /** Undefined when it is not there. */
  target: { version: string; isVerified: boolean } | undefined;
}

/**
 * The routes with all requests at the version at work, when some go to a version that is not wanted, or must not be; undefined when they may
 * stay as they are.
 */
export function safeRoutes({ routes, atWork, target }: RoutesSituation): Route[] | undefined {
  const stable = routes.find(({ version }) => version === atWork);
  if (stable === undefined || stable.weight === 100) return undefined;
  const mayHave = target?.isVerified === true && target.version !== atWork ? target.version : undefined;
  const isSafe = routes.every(({ version, weight }) => weight === 0 || version === atWork || version === mayHave);
  return isSafe ? undefined : routes.map((route) => ({ ...route, weight: route === stable ? 100 : 0 }));
}
