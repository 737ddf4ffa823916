import {
  addRows,
  compacted,
  hourOf,
  METERED_UNTIL,
  METERING_LABEL,
  METERING_NAMESPACE,
  monthOf,
  readRows,
  recordName,
  writeRows,
  type UsageRows,
} from '../../../api/tenantry.dev/v1alpha1/metering.ts';
import type { Client } from '../../../client/client.ts';
import { ConfigMap, Namespace } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { inParallel } from '../tenant/in-parallel.ts';

/** Besides the present one. */
const MONTHS_KEPT = 13;
const TRIES = 5;

/** What tenants used, kept in one object per tenant and month. */
export class UsageRecords {
  readonly #client: Client;
  readonly #until = new Map<string, number>();
  #cleanedIn = '';

  constructor(client: Client) {
    this.#client = client;
  }

  /** Finds out until when there are records. */
  async open(): Promise<void> {
    for (const { metadata } of await this.#list()) {
      const tenant = metadata.labels![METERING_LABEL];
      const until = Date.parse(metadata.annotations?.[METERED_UNTIL] ?? '');
      if (!Number.isNaN(until)) this.#until.set(tenant, Math.max(until, this.#until.get(tenant) ?? 0));
    }
  }

  /** Removes what is too old, once a month. */
  async forgetOld(now: number): Promise<void> {
    const month = monthOf(hourOf(now));
    if (month === this.#cleanedIn) return;
    const first = new Date(now);
    first.setUTCDate(1);
    first.setUTCMonth(first.getUTCMonth() - MONTHS_KEPT);
    const oldest = monthOf(first.toISOString());
    const names = (await this.#list()).map(({ metadata }) => metadata.name!).filter((name) => name.split('.')[2] < oldest);
    await inParallel(names, (name) => this.#client.resource(ConfigMap, METERING_NAMESPACE).delete(name));
    this.#cleanedIn = month;
  }

  async #list(): Promise<KubeObject[]> {
    return (await this.#client.metadata(ConfigMap, METERING_NAMESPACE).listAll({ labelSelector: METERING_LABEL })).items;
  }

  /** Until when there were records of the tenant when they were opened. */
  untilAtOpening(tenant: string): number | undefined {
    return this.#until.get(tenant);
  }

  /** Adds to what is on record, and takes from `rows` what is. One write for each month of the rows: one, but for the first minute of a month. */
  async add(tenant: string, rows: UsageRows, now: number, written: (rows: UsageRows) => void): Promise<void> {
    for (const [month, ofMonth] of byMonth(rows)) {
      await this.#addToMonth(tenant, month, ofMonth, now);
      written(ofMonth);
      for (const period of ofMonth.keys()) rows.delete(period);
    }
  }

  async #addToMonth(tenant: string, month: string, rows: UsageRows, now: number): Promise<void> {
    const configMaps = this.#client.resource(ConfigMap, METERING_NAMESPACE);
    const name = recordName(tenant, month);
    const labels = { [METERING_LABEL]: tenant };
    const annotations = { [METERED_UNTIL]: new Date(now).toISOString() };
    for (let attempt = 1; ; attempt++) {
      const stored = await configMaps.get(name).catch((error: unknown) => {
        if (!isStatusError(error, 'NotFound')) throw error;
        return undefined;
      });
      const all = readRows(stored?.data);
      addRows(all, rows);
      const data = writeRows(compacted(all, now));
      try {
        if (stored) await configMaps.update({ ...stored, metadata: { ...stored.metadata, labels, annotations }, data });
        else await configMaps.create({ metadata: { name, labels, annotations }, data });
        return;
      } catch (error) {
        if (attempt === TRIES) throw error;
        if (isStatusError(error, 'NotFound')) await this.#makeHome();
        else if (!isStatusError(error, 'Conflict') && !isStatusError(error, 'AlreadyExists')) throw error;
      }
    }
  }

  /** On a cluster the namespace is there before we are; on the embedded engine nobody needed it yet. */
  async #makeHome(): Promise<void> {
    await this.#client
      .resource(Namespace)
      .create({ metadata: { name: METERING_NAMESPACE } })
      .catch((error: unknown) => {
        if (!isStatusError(error, 'AlreadyExists')) throw error;
      });
  }
}

function byMonth(rows: UsageRows): Map<string, UsageRows> {
  const months = new Map<string, UsageRows>();
  for (const [period, namespaces] of rows) {
    const month = months.get(monthOf(period)) ?? (new Map() as UsageRows);
    months.set(monthOf(period), month);
    month.set(period, namespaces);
  }
  return months;
}
