import type { KubeObject } from '../../../kube/object.ts';

const HOUR_MS = 3_600_000;
/** Requests that were dealt with stay for an hour, those that nobody dealt with for a day. */
const SETTLED_MS = HOUR_MS;
const UNSETTLED_MS = 24 * HOUR_MS;

interface CsrCondition {
  type: string;
  lastUpdateTime?: string;
}

/** Milliseconds until a request may be removed; not above 0 when it may. */
export function cleanUpAfter(csr: KubeObject, now: number): number {
  const conditions: CsrCondition[] = csr.status?.conditions ?? [];
  const created = Date.parse(csr.metadata.creationTimestamp!);
  if (conditions.length === 0) return created + UNSETTLED_MS - now;
  const issued = Boolean(csr.status?.certificate);
  const ends = conditions.map(({ type, lastUpdateTime }) => {
    const since = lastUpdateTime === undefined ? created : Date.parse(lastUpdateTime);
    return since + (type === 'Approved' && !issued ? UNSETTLED_MS : SETTLED_MS);
  });
  return Math.min(...ends) - now;
}
