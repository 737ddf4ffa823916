import type { Clock, Timer } from '../../../../lib/clock.ts';
import type { Log } from '../../../../lib/log.ts';
import type { Counter, Family, MetricsRegistry } from '../../../../lib/metrics.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { DENIED, DENIED_COUNTER, DENIED_OTHER, ROUTER_TABLE } from '../ruleset/router-table.ts';
import type { Direction } from './model/compiled-policy.ts';

/** A packet that no policy allowed, as the kernel remembers it. */
export interface Denial {
  direction: Direction;
  source: string;
  destination: string;
  protocol: string;
  port?: number;
  packets: number;
}

export interface DenialOptions {
  clock: Clock;
  log: Log;
  metrics?: MetricsRegistry;
  /** What `nft -j list <what>` prints in the router. */
  list: (what: string) => Promise<string>;
  /** Whether there are policies at all: without, there is nothing to read. */
  active: () => boolean;
  /** The Pod that has an address, with the policies that isolate it. */
  podAt: (address: string, direction: Direction) => { pod: KubeObject; policies: string[] } | undefined;
  record: (pod: KubeObject, message: string) => void;
}

const EVERY_MS = 5000;
/** Events of one reading; a port scan makes thousands of denials. The metric counts them all. */
const MAX_EVENTS = 20;

/**
 * Tells about packets that policies stopped. The kernel keeps them in small sets that forget, so a flood costs no more than their size; they
 * are read now and then, because nothing announces a change of a set.
 */
export class DenialReporter {
  #options: DenialOptions;
  #timer: Timer | undefined;
  #seen = new Map<string, number>();
  #count = 0;
  #stopped = false;
  #counter: Family<Counter> | undefined;

  constructor(options: DenialOptions) {
    this.#options = options;
    this.#counter = options.metrics?.counter('tenantry_network_policy_denied_packets_total', 'Packets that no NetworkPolicy allowed', [
      'namespace',
      'direction',
    ]);
  }

  start(): void {
    this.#timer = this.#options.clock.setTimer(EVERY_MS, () => {
      this.read()
        .catch((error: unknown) => this.#options.log.debug('cannot read denied packets', { error }))
        .finally(() => {
          if (!this.#stopped) this.start();
        });
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Reads what is new since the last time. */
  async read(): Promise<void> {
    if (!this.#options.active()) return;
    const count = parseCounter(await this.#options.list(`counter ip ${ROUTER_TABLE} ${DENIED_COUNTER}`));
    if (count === this.#count) return;
    this.#count = count;
    const seen = new Map<string, number>();
    let events = 0;
    for (const direction of ['ingress', 'egress'] as const) {
      for (const set of [DENIED[direction], DENIED_OTHER[direction]]) {
        for (const denial of parseDenials(await this.#options.list(`set ip ${ROUTER_TABLE} ${set}`), direction)) {
          const key = JSON.stringify([direction, denial.source, denial.destination, denial.protocol, denial.port]);
          const before = this.#seen.get(key) ?? 0;
          // A count that went down is that of an entry which was forgotten and made again.
          const fresh = denial.packets >= before ? denial.packets - before : denial.packets;
          seen.set(key, denial.packets);
          if (fresh > 0 && this.#tell({ ...denial, packets: fresh }, events < MAX_EVENTS)) events++;
        }
      }
    }
    this.#seen = seen;
  }

  #tell(denial: Denial, withEvent: boolean): boolean {
    const { direction, source, destination } = denial;
    const subject = this.#options.podAt(direction === 'ingress' ? destination : source, direction);
    if (!subject) return false;
    this.#counter?.labels(subject.pod.metadata.namespace ?? '', direction).inc(denial.packets);
    if (!withEvent) return false;
    const other = this.#options.podAt(direction === 'ingress' ? source : destination, direction)?.pod;
    this.#options.record(subject.pod, denialText(denial, subject.pod, subject.policies, other));
    return true;
  }
}

/** Names of Pods in other namespaces are not told: who reads events here may not know of them. */
export function denialText(denial: Denial, subject: KubeObject, policies: readonly string[], other: KubeObject | undefined): string {
  const { direction, source, destination, protocol, port } = denial;
  const peer = other?.metadata.namespace === subject.metadata.namespace ? ` (Pod ${other?.metadata.name})` : '';
  const what = `${protocol.toUpperCase()}${port === undefined ? '' : ` port ${port}`}`;
  const way = direction === 'ingress' ? `from ${source}${peer}` : `to ${destination}${peer}`;
  return `Denied ${what} ${way}: no ${direction} rule of ${policies.length === 1 ? 'NetworkPolicy' : 'the NetworkPolicies'} ${policies.join(', ')} allows it`;
}

/** Reads what `nft -j list set` prints. */
export function parseDenials(text: string, direction: Direction): Denial[] {
  const { nftables = [] } = JSON.parse(text) as { nftables?: { set?: { name: string; elem?: unknown[] } }[] };
  return nftables.flatMap(({ set }) =>
    (set?.elem ?? []).flatMap((entry) => {
      const { elem } = entry as { elem?: { val?: { concat?: (string | number)[] }; counter?: { packets: number } } };
      const parts = elem?.val?.concat;
      if (!parts || parts.length < 3) return [];
      const [source, destination, protocol, port] = parts;
      return [
        {
          direction,
          source: String(source),
          destination: String(destination),
          protocol: String(protocol),
          ...(port === undefined ? {} : { port: Number(port) }),
          packets: elem.counter?.packets ?? 0,
        },
      ];
    }),
  );
}

function parseCounter(text: string): number {
  const { nftables = [] } = JSON.parse(text) as { nftables?: { counter?: { packets: number } }[] };
  return nftables.find(({ counter }) => counter)?.counter?.packets ?? 0;
}
