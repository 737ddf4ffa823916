import type { ContainerTarget, PodTarget } from './pod-access.ts';

/** What a path of the kubelet's API asks for. */
export type NodeRoute =
  | { kind: 'logs' | 'exec' | 'attach'; target: ContainerTarget }
  | { kind: 'portForward'; target: PodTarget }
  | { kind: 'summary' | 'resourceMetrics' | 'pods' | 'healthz' };

const PLAIN: Record<string, NodeRoute> = {
  '/stats/summary': { kind: 'summary' },
  '/metrics/resource': { kind: 'resourceMetrics' },
  '/pods': { kind: 'pods' },
  '/healthz': { kind: 'healthz' },
};

/** Undefined for a path that is not served. */
export function parseNodePath(path: string): NodeRoute | undefined {
  const plain = PLAIN[path.replace(/(?<=.)\/$/, '')];
  if (plain !== undefined) return plain;
  const parts = path.split('/').slice(1).map(decoded);
  const [root, namespace, name, ...rest] = parts;
  if (parts.includes('') || name === undefined) return undefined;
  switch (root) {
    case 'containerLogs':
      return rest.length === 1 ? { kind: 'logs', target: { namespace, name, container: rest[0] } } : undefined;
    case 'exec':
    case 'attach':
      if (rest.length === 1) return { kind: root, target: { namespace, name, container: rest[0] } };
      return rest.length === 2 ? { kind: root, target: { namespace, name, uid: rest[0], container: rest[1] } } : undefined;
    case 'portForward':
      if (rest.length > 1) return undefined;
      return { kind: 'portForward', target: { namespace, name, ...(rest.length === 1 && { uid: rest[0] }) } };
    default:
      return undefined;
  }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return '';
  }
}
