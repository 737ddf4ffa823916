import type { Client } from '../../../client/client.ts';
import { ConfigMap } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { fromResourceList, toResourceList, type ResourceList } from '../../../kube/resource-list.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { TreeQuotas } from './tree-quotas.ts';

const HOME = 'tenantry-system';
/** By then the store shows a usage that was written; one that was not has lapsed. */
const LAPSE_MS = 5000;
/** Every try that loses means that another replica won: more than this many lost ones are no longer competition. */
const TRIES = 50;

/** As it is written: what a ResourceQuota (`namespace/name`) was admitted to use, and when. */
type Reservations = Record<string, { used: Record<string, string>; at: number }>;

/**
 * What was admitted but is not yet seen in the store, shared by all replicas of admission in one object per tree: each decision is
 * written by compare-and-swap before it is given, so that no two replicas give the same room away.
 */
export class SharedReservations {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #tree: TreeQuotas;
  /** Decisions of this process about one tree come one after the other; only other replicas can interfere. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(client: Client, clock: Clock, tree: TreeQuotas) {
    this.#client = client;
    this.#clock = clock;
    this.#tree = tree;
  }

  /** @returns why the namespace may not use so much in all; undefined when it may, which then counts for everybody. */
  reserve(root: string, namespace: string, quota: string, used: ResourceList): Promise<string | undefined> {
    const before = this.#turns.get(root) ?? Promise.resolve();
    const turn = before.then(() => this.#decide(root, namespace, quota, used));
    const settled: Promise<void> = turn.then(
      () => this.#forgetTurn(root, settled),
      () => this.#forgetTurn(root, settled),
    );
    this.#turns.set(root, settled);
    return turn;
  }

  #forgetTurn(root: string, turn: Promise<void>): void {
    if (this.#turns.get(root) === turn) this.#turns.delete(root);
  }

  async #decide(root: string, namespace: string, quota: string, used: ResourceList): Promise<string | undefined> {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const stored = await this.#read(root);
      const now = this.#clock.now();
      const reservations = fresh(stored, now);
      for (const [key, reservation] of Object.entries(reservations)) {
        const [from, name] = key.split('/');
        this.#tree.reserved(from, name, toResourceList(reservation.used), reservation.at + LAPSE_MS - now);
      }
      const refusal = this.#tree.ledger.excess(namespace, quota, used);
      if (refusal) return refusal.message;
      reservations[`${namespace}/${quota}`] = { used: fromResourceList(used), at: now };
      if (!(await this.#write(root, stored, reservations))) continue;
      this.#tree.reserved(namespace, quota, used, LAPSE_MS);
      return undefined;
    }
    throw new Error(`Cannot reserve quota in "${root}": other replicas of admission kept changing its reservations; try again`);
  }

  async #read(root: string): Promise<KubeObject | undefined> {
    try {
      return await this.#client.resource(ConfigMap, HOME).get(nameFor(root));
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  /** @returns false when another replica was faster */
  async #write(root: string, stored: KubeObject | undefined, reservations: Reservations): Promise<boolean> {
    const configMaps = this.#client.resource(ConfigMap, HOME);
    const data = { reservations: JSON.stringify(reservations) };
    try {
      if (stored) await configMaps.update({ ...stored, data });
      else await configMaps.create({ metadata: { name: nameFor(root) }, data });
      return true;
    } catch (error) {
      if (isStatusError(error, 'Conflict') || isStatusError(error, 'AlreadyExists')) return false;
      throw error;
    }
  }
}

function nameFor(root: string): string {
  return `quota-reservations.${root}`;
}

function fresh(stored: KubeObject | undefined, now: number): Reservations {
  const all = JSON.parse(stored?.data?.reservations ?? '{}') as Reservations;
  return Object.fromEntries(Object.entries(all).filter(([, { at }]) => now - at < LAPSE_MS && at <= now + LAPSE_MS));
}
