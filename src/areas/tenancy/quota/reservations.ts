import type { Client } from '../../../client/client.ts';
import { fromResourceList, toResourceList, type ResourceList } from '../../../kube/resource-list.ts';
import type { Clock } from '../../../lib/clock.ts';
import { RUN_RESERVATIONS } from './run-reservations.ts';
import { ensureSharedObjects, LAPSE_MS, SharedDecisions } from './shared-decisions.ts';
import type { TreeQuotas } from './tree-quotas.ts';

const PREFIX = 'quota-reservations-';

interface Request {
  namespace: string;
  quota: string;
  used: ResourceList;
}

/** What the ResourceQuotas of a tree were admitted to use, by `namespace/name`. */
export class SharedReservations {
  readonly #decisions: SharedDecisions<Request, { used: Record<string, string> }>;

  constructor(client: Client, clock: Clock, tree: TreeQuotas) {
    this.#decisions = new SharedDecisions(client, clock, {
      prefix: PREFIX,
      recall(promises, now) {
        for (const [key, { used, at }] of Object.entries(promises)) {
          const [namespace, name] = key.split('/');
          tree.reserved(namespace, name, toResourceList(used), at + LAPSE_MS - now);
        }
      },
      judge({ namespace, quota, used }, promises, now) {
        const refusal = tree.ledger.excess(namespace, quota, used);
        if (refusal) return refusal.message;
        promises[`${namespace}/${quota}`] = { used: fromResourceList(used), at: now };
        return tree.reserved(namespace, quota, used, LAPSE_MS);
      },
    });
  }

  /** @returns why the namespace may not use so much in all; undefined when it may, which then counts for everybody. */
  reserve(root: string, namespace: string, quota: string, used: ResourceList): Promise<string | undefined> {
    return this.#decisions.ask(root, { namespace, quota, used });
  }
}

/** Makes the objects that reservations are written to, before they are needed. */
export async function ensureReservationObjects(client: Client): Promise<void> {
  await Promise.all([PREFIX, RUN_RESERVATIONS].map((prefix) => ensureSharedObjects(client, prefix)));
}
