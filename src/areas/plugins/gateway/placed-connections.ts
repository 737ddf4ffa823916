import type { Duplex } from 'node:stream';
import { GATEWAY_ACCESS_LABEL } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { createHttpTransport } from '../../../client/http/http-transport.ts';
import { noCredentials } from '../../../client/config/credentials.ts';
import { podPortForward, type PortForward } from '../../../client/streams/port-forward.ts';
import type { Transport } from '../../../client/transport.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { longLivedController, orAborted } from '../../../lib/abort.ts';
import type { Clock, Timer } from '../../../lib/clock.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';

/** A Pod in the cluster that a tenant lives in. */
export interface PlacedPod {
  tenant: string;
  namespace: string;
  name: string;
}

interface Way {
  /** Where it leads: with another address or authority it is another. */
  to: string;
  transport: Transport;
  /** Those for new connections, of each Pod. */
  pods: Map<string, Set<Tunnel>>;
  tunnels: Set<Tunnel>;
}

interface Tunnel {
  forward: Promise<PortForward>;
  connections: number;
  idle?: Timer;
}

/** A tunnel that nobody uses is closed after so long. */
const IDLE_MS = 60_000;
/** Whoever administers the cluster may have it take everything and answer nothing: then nobody waits for more than this. */
const OPEN_MS = 10_000;
/** Of one Pod at a time: a caller that is slow to read holds up those that share its tunnel. */
const MOST_TUNNELS = 4;
/** So long a caller may read nothing while others share its tunnel: less than they wait for a connection. */
const PATIENCE_MS = 3_000;

/**
 * Connections to Pods of plugins in tenants' clusters, whose networks the gateway is not in: through the API server of the cluster, and from
 * there through the tunnel that the worker has opened. A few tunnels for each Pod, with as many connections as there are requests.
 */
export class PlacedConnections {
  readonly #secrets: Informer;
  readonly #clock: Clock;
  readonly #ways = new Map<string, Way>();

  constructor(secrets: Informer, clock: Clock) {
    this.#secrets = secrets;
    this.#clock = clock;
    secrets.onChange(({ type, object }) => {
      const tenant = object.metadata.labels?.[GATEWAY_ACCESS_LABEL];
      if (tenant !== undefined && (type === 'deleted' || this.#ways.get(tenant)?.to !== leadsTo(object))) this.#forget(tenant);
    });
  }

  /** @throws when the Pod cannot be reached; nothing of it was seen there then */
  async open(pod: PlacedPod, port: number, signal: AbortSignal): Promise<Duplex> {
    const way = this.#way(pod.tenant);
    const key = `${pod.namespace}/${pod.name}`;
    const tunnel = leastUsed(way.pods.get(key)) ?? this.#dig(way, key, pod);
    tunnel.idle?.cancel();
    tunnel.connections++;
    const left = () => {
      if (--tunnel.connections > 0) return;
      if (!isForNew(way, key, tunnel)) return shut(way, tunnel);
      tunnel.idle = this.#clock.setTimer(IDLE_MS, () => (retire(way, key, tunnel), shut(way, tunnel)));
    };
    const opening = longLivedController();
    const giveUp = () => opening.abort();
    const late = this.#clock.setTimer(OPEN_MS, giveUp);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    try {
      const forward = await orAborted(tunnel.forward, opening.signal);
      const connection = await forward.open(port, opening.signal);
      connection.once('close', left);
      if (signal.aborted) connection.destroy();
      return connection;
    } catch (error) {
      // What goes through it now is not cut off for that.
      if (!signal.aborted) retire(way, key, tunnel);
      left();
      throw error;
    } finally {
      late.cancel();
      signal.removeEventListener('abort', giveUp);
    }
  }

  close(): void {
    for (const tenant of this.#ways.keys()) this.#forget(tenant);
  }

  #way(tenant: string): Way {
    const existing = this.#ways.get(tenant);
    if (existing) return existing;
    const secret = this.#secretOf(tenant);
    if (secret === undefined) throw new Error(`Cannot reach the cluster of "${tenant}": nobody has said how`);
    const transport = createHttpTransport({
      endpoint: { url: new URL(decoded(secret, 'server')) },
      ca: () => Promise.resolve(decoded(secret, 'ca.crt')),
      // Tokens are renewed long before they end.
      credentials: {
        ...noCredentials,
        headers: () => Promise.resolve({ Authorization: `Bearer ${decoded(this.#secretOf(tenant) ?? secret, 'token')}` }),
      },
    });
    const way = { to: leadsTo(secret), transport, pods: new Map<string, Set<Tunnel>>(), tunnels: new Set<Tunnel>() };
    this.#ways.set(tenant, way);
    return way;
  }

  #secretOf(tenant: string): KubeObject | undefined {
    for (const secret of this.#secrets.list()) if (secret.metadata.labels?.[GATEWAY_ACCESS_LABEL] === tenant) return secret;
    return undefined;
  }

  #dig(way: Way, key: string, { namespace, name }: PlacedPod): Tunnel {
    const opening = longLivedController();
    const late = this.#clock.setTimer(OPEN_MS, () => opening.abort());
    const patience = { ms: PATIENCE_MS, isOver: () => tunnel.connections > 1 };
    const forward = podPortForward(way.transport, { namespace, name }, { signal: opening.signal, clock: this.#clock, patience });
    const tunnel: Tunnel = { forward, connections: 0 };
    const others = way.pods.get(key);
    if (others) others.add(tunnel);
    else way.pods.set(key, new Set([tunnel]));
    way.tunnels.add(tunnel);
    const gone = () => (retire(way, key, tunnel), shut(way, tunnel));
    forward.finally(() => late.cancel()).then(({ closed }) => closed.then(gone, gone), gone);
    return tunnel;
  }

  #forget(tenant: string): void {
    const way = this.#ways.get(tenant);
    if (way === undefined) return;
    this.#ways.delete(tenant);
    way.pods.clear();
    for (const tunnel of way.tunnels) shut(way, tunnel);
    void way.transport.close().catch(() => {});
  }
}

/** Undefined: another is to be dug. */
function leastUsed(tunnels: ReadonlySet<Tunnel> = new Set()): Tunnel | undefined {
  const [first] = [...tunnels].sort((a, b) => a.connections - b.connections);
  return first?.connections === 0 || tunnels.size >= MOST_TUNNELS ? first : undefined;
}

function isForNew({ pods }: Way, key: string, tunnel: Tunnel): boolean {
  return pods.get(key)?.has(tunnel) === true;
}

/** New connections go another way. */
function retire({ pods }: Way, key: string, tunnel: Tunnel): void {
  const tunnels = pods.get(key);
  if (tunnels?.delete(tunnel) && tunnels.size === 0) pods.delete(key);
}

function shut(way: Way, tunnel: Tunnel): void {
  tunnel.idle?.cancel();
  if (!way.tunnels.delete(tunnel)) return;
  tunnel.forward.then(
    (forward) => forward.close(),
    () => {},
  );
}

function leadsTo({ data }: KubeObject): string {
  return `${data?.server} ${data?.['ca.crt']}`;
}

function decoded({ data }: KubeObject, key: string): string {
  return Buffer.from(String(data?.[key] ?? ''), 'base64').toString();
}
