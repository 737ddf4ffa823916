import type { Client } from '../../../client/client.ts';
import { ConfigMap } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { fromResourceList, toResourceList, type ResourceList } from '../../../kube/resource-list.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { TreeQuotas } from './tree-quotas.ts';

const HOME = 'tenantry-system';
const PREFIX = 'quota-reservations-';
const SHARDS = 16;
/** By then the store shows a usage that was written; one that was not has lapsed. */
const LAPSE_MS = 5000;
/** Every try that loses means that another replica won: more than this many lost ones are no longer competition. */
const TRIES = 50;

/** As it is written: what a ResourceQuota (`namespace/name`) was admitted to use, and when. */
type Reservations = Record<string, { used: Record<string, string>; at: number }>;

interface Request {
  namespace: string;
  quota: string;
  used: ResourceList;
  settle(refusal: string | undefined): void;
  fail(error: unknown): void;
}

/** The requests about one tree that wait, and the object as this process last saw it. */
interface Desk {
  waiting: Request[];
  isBusy: boolean;
  stored: KubeObject | undefined;
}

/**
 * What was admitted but is not yet seen in the store, shared by all replicas of admission in one object per tree (or a few trees): decisions are written
 * by compare-and-swap before they are given, so that no two replicas give the same room away. Decisions that wait share one write.
 */
export class SharedReservations {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #tree: TreeQuotas;
  readonly #desks = new Map<string, Desk>();

  constructor(client: Client, clock: Clock, tree: TreeQuotas) {
    this.#client = client;
    this.#clock = clock;
    this.#tree = tree;
  }

  /** @returns why the namespace may not use so much in all; undefined when it may, which then counts for everybody. */
  reserve(root: string, namespace: string, quota: string, used: ResourceList): Promise<string | undefined> {
    let desk = this.#desks.get(root);
    if (!desk) this.#desks.set(root, (desk = { waiting: [], isBusy: false, stored: undefined }));
    const own = desk;
    return new Promise((settle, fail) => {
      own.waiting.push({ namespace, quota, used, settle, fail });
      if (!own.isBusy) void this.#work(root, own);
    });
  }

  async #work(root: string, desk: Desk): Promise<void> {
    desk.isBusy = true;
    while (desk.waiting.length > 0) {
      const requests = desk.waiting.splice(0);
      try {
        const refusals = await this.#decide(root, desk, requests);
        for (const [index, request] of requests.entries()) request.settle(refusals[index]);
      } catch (error) {
        desk.stored = undefined;
        for (const request of requests) request.fail(error);
      }
    }
    desk.isBusy = false;
  }

  async #decide(root: string, desk: Desk, requests: readonly Request[]): Promise<(string | undefined)[]> {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      // What this process wrote last is most likely still what is there; if not, the write says so.
      desk.stored ??= await this.#read(root);
      const now = this.#clock.now();
      const reservations = fresh(desk.stored, now);
      for (const [key, { used, at }] of Object.entries(reservations)) {
        const [namespace, name] = key.split('/');
        this.#tree.reserved(namespace, name, toResourceList(used), at + LAPSE_MS - now);
      }
      const undo: (() => void)[] = [];
      const refusals = requests.map(({ namespace, quota, used }) => {
        const refusal = this.#tree.ledger.excess(namespace, quota, used);
        if (refusal) return refusal.message;
        reservations[`${namespace}/${quota}`] = { used: fromResourceList(used), at: now };
        undo.push(this.#tree.reserved(namespace, quota, used, LAPSE_MS));
        return undefined;
      });
      if (undo.length === 0) return refusals;
      const written = await this.#write(desk.stored, reservations);
      desk.stored = written;
      if (written) return refusals;
      for (const each of undo.reverse()) each();
    }
    throw new Error(`Cannot reserve quota in "${root}": other replicas of admission kept changing its reservations; try again`);
  }

  #read(root: string): Promise<KubeObject> {
    return this.#client.resource(ConfigMap, HOME).get(nameFor(root));
  }

  /** @returns undefined when another replica was faster */
  async #write(stored: KubeObject, reservations: Reservations): Promise<KubeObject | undefined> {
    const data = { reservations: JSON.stringify(reservations) };
    try {
      return await this.#client.resource(ConfigMap, HOME).update({ ...stored, data });
    } catch (error) {
      if (isStatusError(error, 'Conflict')) return undefined;
      throw error;
    }
  }
}

/**
 * Makes the objects that reservations are written to. Not when they are first needed: an API server that waits for a decision about
 * quota has no hands free to admit the creation of an object.
 */
export async function ensureReservationObjects(client: Client): Promise<void> {
  const configMaps = client.resource(ConfigMap, HOME);
  await Promise.all(
    Array.from({ length: SHARDS }, async (_, shard) => {
      try {
        await configMaps.create({ metadata: { name: `${PREFIX}${shard}` }, data: {} });
      } catch (error) {
        if (!isStatusError(error, 'AlreadyExists')) throw error;
      }
    }),
  );
}

/** Trees share a few objects. */
function nameFor(root: string): string {
  let hash = 7;
  for (let index = 0; index < root.length; index++) hash = (hash * 31 + root.charCodeAt(index)) >>> 0;
  return `${PREFIX}${hash % SHARDS}`;
}

function fresh(stored: KubeObject | undefined, now: number): Reservations {
  const all = JSON.parse(stored?.data?.reservations ?? '{}') as Reservations;
  return Object.fromEntries(Object.entries(all).filter(([, { at }]) => now - at < LAPSE_MS && at <= now + LAPSE_MS));
}
