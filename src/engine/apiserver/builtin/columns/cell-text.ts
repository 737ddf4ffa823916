import type { Json } from '../../../../kube/object.ts';

/** `a=b,c=d`, in the order of the keys; `<none>` without labels. */
export function formatLabels(labels: Record<string, string> | undefined): string {
  const pairs = Object.entries(labels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return pairs.map(([key, value]) => `${key}=${value}`).join(',') || '<none>';
}

const LIST_LIMIT = 3;

/** The first of a list, and how many more there are. */
export function shortList(items: string[], empty: string): string {
  if (items.length === 0) return empty;
  const shown = items.slice(0, LIST_LIMIT).join(',');
  return items.length > LIST_LIMIT ? `${shown} + ${items.length - LIST_LIMIT} more...` : shown;
}

export function containerNames(podSpec: Json): string {
  return (podSpec?.containers ?? []).map((container: Json) => container.name).join(',');
}

export function containerImages(podSpec: Json): string {
  return (podSpec?.containers ?? []).map((container: Json) => container.image ?? '').join(',');
}

/** Addresses of a load balancer, each once, in order. */
export function loadBalancerAddresses(status: Json): string {
  const addresses = (status?.loadBalancer?.ingress ?? []).map((ingress: Json) => ingress.ip || ingress.hostname).filter(Boolean);
  return [...new Set<string>(addresses)].sort((a, b) => (a < b ? -1 : 1)).join(',');
}

export function conditionStatus(object: Json, type: string): string | undefined {
  return object.status?.conditions?.find((condition: Json) => condition.type === type)?.status;
}

const ACCESS_MODES: [string, string][] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

export function accessModes(modes: string[] | undefined): string {
  return ACCESS_MODES.filter(([mode]) => modes?.includes(mode))
    .map(([, short]) => short)
    .join(',');
}
