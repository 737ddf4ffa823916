import { isDeepStrictEqual } from 'node:util';
import type { Client } from '../../../client/client.ts';
import { Lease, Node } from '../../../client/kinds.ts';
import type { NodeCondition, NodeStatus } from '../../../kube/generated/core-v1.ts';
import { isStatusError } from '../../../kube/status.ts';
import { formatMicroTime } from '../../../kube/time.ts';
import type { Clock, Timer } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import { newNode, nodeConditions, nodeMetadata, nodeStatus, type NodeDescription, type NodeHealth } from './describe-node.ts';

export const LEASE_NAMESPACE = 'kube-node-lease';
const LEASE_SECONDS = 40;
const RENEW_MS = 10_000;
/** A status that did not change is told again after this long. */
const REPORT_MS = 300_000;

type NodeObject = NonNullable<(typeof Node)['objectType']>;

export interface RegistrarOptions {
  client: Client;
  clock: Clock;
  log: Log;
  /** As it is now. */
  describe(): Promise<{ node: NodeDescription; health: NodeHealth }>;
}

/** Keeps the Node object and its Lease: makes them, renews the Lease, tells what changed. Used by `up`, and by the agent after it. */
export class NodeRegistrar {
  #options: RegistrarOptions;
  #timer: Timer | undefined;
  #stopped = false;
  #toldAt = -Infinity;
  #told: NodeObject | undefined;

  constructor(options: RegistrarOptions) {
    this.#options = options;
  }

  /** Resolves when the Node is there and Ready; or it could not be told just now, and will be later. */
  async start(): Promise<void> {
    await this.#tell();
    this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Something that the Node tells has changed. */
  async changed(): Promise<void> {
    if (!this.#stopped) await this.#report();
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = this.#options.clock.setTimer(RENEW_MS, () => {
      void this.#tell().then(() => this.#schedule());
    });
  }

  /** Never rejects: whatever keeps the API from listening, the node goes on. */
  async #tell(): Promise<void> {
    try {
      await this.#report();
      await this.#renew();
    } catch (error) {
      this.#options.log.warn('cannot report the state of the node, will try again', { error });
    }
  }

  async #report(): Promise<void> {
    const { clock } = this.#options;
    const { node, health } = await this.#options.describe();
    const current = this.#told ?? (await this.#ensure(node, health));
    const conditions = nodeConditions(health, current.status?.conditions ?? [], new Date(clock.now()));
    const due = clock.monotonic() - this.#toldAt >= REPORT_MS;
    const patch = statusDifference(current, nodeStatus(node), conditions, due);
    this.#told = current;
    if (!patch || this.#stopped) return;
    try {
      this.#told = await this.#options.client.resource(Node).status.patch(node.name, { type: 'strategic', patch: { status: patch } });
      this.#toldAt = clock.monotonic();
    } catch (error) {
      // Somebody deleted it: it is made again the next time.
      this.#told = undefined;
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }

  /** Finds or makes the object, and corrects the labels and annotations that are ours. */
  async #ensure(node: NodeDescription, health: NodeHealth): Promise<NodeObject> {
    const nodes = this.#options.client.resource(Node);
    const wanted = nodeMetadata(node);
    try {
      const found = await nodes.get(node.name);
      const { labels, annotations } = found.metadata;
      const differs =
        Object.entries(wanted.labels).some(([name, value]) => labels?.[name] !== value) ||
        Object.entries(wanted.annotations).some(([name, value]) => annotations?.[name] !== value);
      if (!differs) return found;
      const patch = { metadata: { labels: wanted.labels, annotations: wanted.annotations } };
      return await nodes.patch(node.name, { type: 'merge', patch });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
      this.#toldAt = this.#options.clock.monotonic();
      return nodes.create(newNode(node, health, new Date(this.#options.clock.now())));
    }
  }

  async #renew(): Promise<void> {
    const { client, clock } = this.#options;
    if (!this.#told) return;
    const { name, uid } = this.#told.metadata;
    const leases = client.resource(Lease, LEASE_NAMESPACE);
    const renewTime = formatMicroTime(new Date(clock.now()));
    try {
      await leases.patch(name!, { type: 'merge', patch: { spec: { renewTime, holderIdentity: name } } });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
      await leases.create(newLease(name!, uid!, renewTime));
    }
  }
}

/** What tells that the node is alive; it goes with it. */
export function newLease(name: string, uid: string, renewTime: string) {
  return {
    metadata: { name, namespace: LEASE_NAMESPACE, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
    spec: { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime },
  };
}

/** What to send; undefined when everything is known already. Heartbeats alone are sent when they are due. */
function statusDifference(
  current: NodeObject,
  wanted: NodeStatus,
  conditions: readonly NodeCondition[],
  due: boolean,
): Record<string, unknown> | undefined {
  const patch: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(wanted)) {
    if (isDeepStrictEqual(current.status?.[field as keyof NodeStatus], value)) continue;
    patch[field] = field === 'addresses' ? [{ $patch: 'replace' }, ...(value as unknown[])] : value;
  }
  const known = current.status?.conditions ?? [];
  const changed = conditions.filter((next) => {
    const old = known.find(({ type }) => type === next.type);
    return !old || old.status !== next.status || old.reason !== next.reason || old.message !== next.message;
  });
  if (due || changed.length > 0 || Object.keys(patch).length > 0) patch.conditions = conditions;
  return Object.keys(patch).length > 0 ? patch : undefined;
}
