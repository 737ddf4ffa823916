import type { Ingress } from '../../../../../client/kinds.ts';
import type { IngressBackend } from '../../../../../kube/generated/networking-v1.ts';

export type IngressObject = NonNullable<(typeof Ingress)['objectType']>;

/** Where a request goes: a port of a Service in the Ingress's namespace. */
export interface Target {
  namespace: string;
  service: string;
  port: number | string;
}

interface PathRoute {
  /** Without the slash at its end. */
  path: string;
  exact: boolean;
  target: Target;
}

export interface HostRoutes {
  paths: PathRoute[];
  /** Whether it has a certificate, so that plain requests are sent there. */
  secure: boolean;
}

export interface Certificate {
  namespace: string;
  secret: string;
}

/** Everything that decides about a request. */
export interface Routing {
  /** By name: `example.com`, `*.example.com`, and the empty one for every host. */
  hosts: ReadonlyMap<string, HostRoutes>;
  fallback: Target | undefined;
  /** By name, as for hosts. */
  certificates: ReadonlyMap<string, Certificate>;
}

export const INGRESS_CONTROLLER = 'tenantry.dev/ingress';
const LEGACY_CLASS = 'kubernetes.io/ingress.class';
export const PLAIN_ALLOWED = 'tenantry.dev/allow-plain';

/** Those that are ours. `classes` are the names of our classes; `isDefault` whether Ingresses without a class are ours too. */
export function ownIngresses(all: Iterable<IngressObject>, classes: ReadonlySet<string>, isDefault: boolean): IngressObject[] {
  return [...all].filter(({ metadata, spec }) => {
    const name = spec?.ingressClassName ?? metadata.annotations?.[LEGACY_CLASS];
    return name === undefined ? isDefault : classes.has(name);
  });
}

/** What Ingresses say together. What two of them claim is the older one's. */
export function routingOf(ingresses: readonly IngressObject[]): Routing {
  const hosts = new Map<string, HostRoutes>();
  const certificates = new Map<string, Certificate>();
  let fallback: Target | undefined;
  const at = (host: string): HostRoutes => {
    const known = hosts.get(host) ?? { paths: [], secure: false };
    hosts.set(host, known);
    return known;
  };
  for (const ingress of ingresses.toSorted(byAge)) {
    const namespace = ingress.metadata.namespace!;
    fallback ??= targetOf(namespace, ingress.spec?.defaultBackend);
    for (const { hosts: names, secretName } of ingress.spec?.tls ?? []) {
      const covered = names ?? (ingress.spec?.rules ?? []).flatMap(({ host }) => host ?? []);
      for (const name of secretName === undefined ? [] : covered) {
        if (!certificates.has(name)) certificates.set(name, { namespace, secret: secretName! });
        if (ingress.metadata.annotations?.[PLAIN_ALLOWED] !== 'true') at(name).secure = true;
      }
    }
    for (const { host = '', http } of ingress.spec?.rules ?? []) {
      for (const { path = '/', pathType, backend } of http?.paths ?? []) {
        const target = targetOf(namespace, backend);
        const route = { path: pathType === 'Exact' ? path : trimmed(path), exact: pathType === 'Exact' };
        const { paths } = at(host);
        if (target && !paths.some((one) => one.path === route.path && one.exact === route.exact)) paths.push({ ...route, target });
      }
    }
  }
  for (const { paths } of hosts.values()) paths.sort(byPrecedence);
  return { hosts, fallback, certificates };
}

export type Decision = { type: 'target'; target: Target } | { type: 'secure' } | { type: 'none' };

/** What becomes of a request. `path` has no query. */
export function decide({ hosts, fallback }: Routing, host: string, path: string, secure: boolean): Decision {
  const name = host.toLowerCase();
  const own = found(hosts, name);
  if (own?.secure && !secure) return { type: 'secure' };
  const target = match(own, path) ?? match(hosts.get(''), path) ?? fallback;
  return target === undefined ? { type: 'none' } : { type: 'target', target };
}

/** What there is for a name: its own, or that of the names beside it. */
export function found<T>(byName: ReadonlyMap<string, T>, name: string): T | undefined {
  const dot = name.indexOf('.');
  return byName.get(name) ?? (dot > 0 ? byName.get(`*${name.slice(dot)}`) : undefined);
}

function match(host: HostRoutes | undefined, path: string): Target | undefined {
  return host?.paths.find((route) => (route.exact ? path === route.path : path === route.path || path.startsWith(`${route.path}/`)))
    ?.target;
}

function targetOf(namespace: string, backend: IngressBackend | undefined): Target | undefined {
  const { name, port } = backend?.service ?? {};
  const to = port?.number ?? port?.name;
  return name === undefined || to === undefined ? undefined : { namespace, service: name, port: to };
}

/** Exact ones first, then those that say more. */
function byPrecedence(a: PathRoute, b: PathRoute): number {
  return Number(b.exact) - Number(a.exact) || b.path.length - a.path.length;
}

function trimmed(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

function byAge(a: IngressObject, b: IngressObject): number {
  const [first, second] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp ?? ''} ${metadata.namespace}/${metadata.name}`);
  return first < second ? -1 : Number(first > second);
}
