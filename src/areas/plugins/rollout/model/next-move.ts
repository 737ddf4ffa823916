import type { PluginManifest } from '../../../../api/adapstory.com/v1/plugin-manifest.ts';
import { gateBreach, type Breach } from './health-gate.ts';
import { sameRoutes, withShare, type Route } from './routes.ts';
import type { ShiftStep } from './shift-steps.ts';
import { trafficOf, type TrafficFacts, type VersionTraffic } from './traffic-facts.ts';

/** A gateway that does not follow the routes for so long is gone, or will be told when it is back. */
const GATEWAY_PATIENCE_MS = 5_000;
/** Requests that are still under way after so long are cut off with their version. */
export const DRAIN_DEADLINE_MS = 30_000;
/** How often the reports are looked at while time passes; they wake by themselves when they change. */
const LOOK_AGAIN_MS = 1_000;

export interface ShiftSituation {
  routes: readonly Route[];
  target: Pick<Route, 'version' | 'workload'>;
  /** The version that was healthy last. */
  atWork: string | undefined;
  /** No steps and no gate: it was good before. */
  isGoingBack: boolean;
  /** Nobody calls it, so there is nothing to move. */
  isUncalled: boolean;
  manifest: PluginManifest;
  steps: readonly ShiftStep[];
  /** Of the steps: the one that the requests are at; undefined before the first. */
  step: number | undefined;
  /** How long the routes are as they are. */
  sinceMs: number;
  /** To the target, in the steps before this one. */
  counted: { requests: number; errors: number };
  traffic: TrafficFacts;
}

export type Move =
  | { type: 'done'; routes: Route[] }
  /** The routes change; the time of the step begins anew. */
  | { type: 'shift'; routes: Route[]; step: number | undefined }
  /** Versions that nobody uses any more go. */
  | { type: 'retire'; routes: Route[] }
  | { type: 'reject'; breach: Breach }
  | { type: 'wait'; for: 'gateways' | 'pause' | 'drain'; message: string; afterMs: number };

/** What is next on the way of the requests to the wanted version, which is ready for them. */
export function nextMove(situation: ShiftSituation): Move {
  const { routes, target, isGoingBack, isUncalled, atWork } = situation;
  const others = routes.filter(({ version }) => version !== target.version);
  const own = routes.find(({ version }) => version === target.version);
  if (others.length === 0) return { type: 'done', routes: withShare([], target, 100) };
  if (isUncalled) return { type: 'retire', routes: withShare([], target, 100) };
  const straight = isGoingBack || situation.steps.length === 0;
  if (own === undefined || (own.weight < 100 && straight)) {
    const weight = straight ? 100 : situation.steps[0].weight;
    return { type: 'shift', routes: withShare(routes, target, weight, atWork), step: straight ? undefined : 0 };
  }
  if (!straight) {
    const pending = pendingStep(situation);
    if (pending) return pending;
  }
  return drained(situation, others);
}

/** Undefined once the last step is behind. */
function pendingStep(situation: ShiftSituation): Move | undefined {
  const { routes, target, atWork, steps, sinceMs, traffic, manifest } = situation;
  const index = Math.min(situation.step ?? 0, steps.length - 1);
  const step = steps[index];
  const wanted = withShare(routes, target, step.weight, atWork);
  // A step that was begun for other steps, or routes that somebody changed.
  if (!sameRoutes(routes, wanted)) return { type: 'shift', routes: wanted, step: index };
  const breach = gateBreach(manifest, wholeTraffic(situation));
  if (breach) return { type: 'reject', breach };
  if (!traffic.isCurrent && sinceMs < GATEWAY_PATIENCE_MS) return waitForGateways(sinceMs);
  if (sinceMs < step.pauseMs) {
    // No seconds in it: a status that changes every second would be written every second.
    const unseen = traffic.isReported ? '' : '; no gateway tells how they fare';
    const message = `${step.weight} % of the requests go to ${target.version}${unseen}`;
    return { type: 'wait', for: 'pause', message, afterMs: Math.min(step.pauseMs - sinceMs, LOOK_AGAIN_MS) };
  }
  if (index === steps.length - 1) return undefined;
  return { type: 'shift', routes: withShare(routes, target, steps[index + 1].weight, atWork), step: index + 1 };
}

/** What became of the requests to the target in all of its steps; a few at each of them say something together. */
export function wholeTraffic({ target, counted, traffic }: Pick<ShiftSituation, 'target' | 'counted' | 'traffic'>): VersionTraffic {
  const now = trafficOf(traffic, target.version);
  return { ...now, requests: counted.requests + now.requests, errors: counted.errors + now.errors };
}

/** A gateway that is silent may have requests under way that nobody knows of: only the deadline ends them. */
function drained({ routes, target, sinceMs, traffic }: ShiftSituation, others: readonly Route[]): Move {
  const retired: Move = { type: 'retire', routes: routes.filter(({ version }) => version === target.version) };
  if (sinceMs >= DRAIN_DEADLINE_MS) return retired;
  if (!traffic.isCurrent && sinceMs < GATEWAY_PATIENCE_MS) return waitForGateways(sinceMs);
  const busy = others.filter(({ version }) => trafficOf(traffic, version).inFlight > 0).map(({ version }) => version);
  if (busy.length === 0 && traffic.isCurrent) return retired;
  const message =
    busy.length > 0 ? `requests to ${busy.join(', ')} are still under way` : 'a gateway is silent, and may have requests under way';
  return { type: 'wait', for: 'drain', message, afterMs: Math.min(DRAIN_DEADLINE_MS - sinceMs, LOOK_AGAIN_MS) };
}

function waitForGateways(sinceMs: number): Move {
  const message = 'waits until every gateway goes by the new routes';
  return { type: 'wait', for: 'gateways', message, afterMs: Math.min(GATEWAY_PATIENCE_MS - sinceMs, LOOK_AGAIN_MS) };
}
