import { builtinResources } from '../../src/engine/apiserver/builtin/index.ts';
import type { Resource } from '../../src/engine/apiserver/registry/resource.ts';
import { parseApiVersion, type Json } from '../../src/kube/object.ts';

/** The user of the control plane's token. */
export const ADMIN = { name: 'admin', uid: 'admin', groups: ['system:masters', 'system:authenticated'] };

const resources = builtinResources();

export function resourceOf(object: Json): Resource {
  const { group, version } = parseApiVersion(object.apiVersion);
  return resources.find((resource) => resource.group === group && resource.version === version && resource.kind === object.kind)!;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;
const OWNED = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'managedFields', 'namespace', 'finalizers', 'selfLink']);
const PORTS = new Set(['nodePort', 'healthCheckNodePort']);

/** Leaves out what differs between any two servers: uids, times, addresses, and what admission and apply add. */
export function comparable(value: Json, uid: string): Json {
  if (Array.isArray(value)) return value.map((item) => comparable(item, uid));
  if (typeof value === 'string') return TIME.test(value) ? '(time)' : value.replace(uid, '(uid)').replace(/^10\.0\.0\.\d+$/, '(address)');
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !OWNED.has(key));
  return Object.fromEntries(kept.map(([key, item]) => [key, PORTS.has(key) ? '(port)' : comparable(item, uid)]));
}
