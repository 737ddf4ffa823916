import type { Clock, Timer } from '../../../../lib/clock.ts';
import type { Log } from '../../../../lib/log.ts';
import type { ServicePort } from './model/service-endpoints.ts';
import { NodePortTcp } from './node-port-tcp.ts';
import { NodePortUdp } from './node-port-udp.ts';

/** How the proxy reaches the network; the sockets of both networks differ in where they live. */
export interface ProxyPlace {
  /** Namespace that plays the machine; absent: this process's own. */
  machine?: string;
  /** Where node ports are open. */
  address: string;
  /** What connections to Pods come from; absent: the machine's own address. */
  source?: string;
}

export interface NodePortListener {
  /** The newest state of the Service's port. */
  port: ServicePort;
  open(): Promise<void>;
  close(): void;
}

export interface NodePortOptions {
  place: ProxyPlace;
  clock: Clock;
  log: Log;
  random?: () => number;
}

/** A port that another program has may become free. */
const RETRY_MS = 10_000;

/** Opens the node ports of Services on the machine and passes what arrives on to their endpoints. Needs no privilege. */
export class NodePortProxy {
  #options: NodePortOptions;
  #open = new Map<string, NodePortListener>();
  #byService = new Map<string, ServicePort[]>();
  #retries = new Map<string, Timer>();

  constructor(options: NodePortOptions) {
    this.#options = options;
  }

  /** The ports of a Service as they are now; none closes what was open. */
  set(service: string, ports: readonly ServicePort[]): void {
    const wanted = ports.filter(({ nodePort, protocol }) => nodePort !== undefined && protocol !== 'sctp');
    const keys = new Set(wanted.map(keyOf));
    for (const port of this.#byService.get(service) ?? []) if (!keys.has(keyOf(port))) this.#close(keyOf(port));
    if (wanted.length > 0) this.#byService.set(service, wanted);
    else this.#byService.delete(service);
    for (const port of wanted) {
      const listener = this.#open.get(keyOf(port));
      if (listener) listener.port = port;
      else this.#listen(keyOf(port), port);
    }
  }

  stop(): void {
    for (const key of this.#open.keys()) this.#close(key);
    for (const timer of this.#retries.values()) timer.cancel();
    this.#retries.clear();
    this.#byService.clear();
  }

  #listen(key: string, port: ServicePort): void {
    const Listener = port.protocol === 'udp' ? NodePortUdp : NodePortTcp;
    const listener = new Listener(port, this.#options);
    this.#open.set(key, listener);
    listener.open().catch((error: unknown) => {
      if (this.#open.get(key) !== listener) return;
      this.#open.delete(key);
      this.#options.log.warn('cannot open a node port; trying again', { service: port.id, nodePort: port.nodePort, error });
      this.#retries.set(
        key,
        this.#options.clock.setTimer(RETRY_MS, () => {
          this.#retries.delete(key);
          const current = [...this.#byService.values()].flat().find((candidate) => keyOf(candidate) === key);
          if (current && !this.#open.has(key)) this.#listen(key, current);
        }),
      );
    });
  }

  #close(key: string): void {
    this.#retries.get(key)?.cancel();
    this.#retries.delete(key);
    this.#open.get(key)?.close();
    this.#open.delete(key);
  }
}

function keyOf({ protocol, nodePort }: ServicePort): string {
  return `${protocol}:${nodePort}`;
}
