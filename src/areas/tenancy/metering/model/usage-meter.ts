import { addRow, addRows, hourOf, type Amounts, type Measure, type UsageRows } from '../../../../api/tenantry.dev/v1alpha1/metering.ts';

const HOUR_MS = 3_600_000;
/** Time in which nobody looked counts up to so long: a machine that slept ran nothing. */
const LONGEST_UNSEEN_MS = HOUR_MS;
/** A measurement stands for the time since the last one, up to so long. */
const LONGEST_MEASURED_MS = 150_000;

/** A tenant may have thousands of Pods, and a step is a small part of what others wait for at most. */
const SOURCES_PER_STEP = 200;

/** Something that uses at a steady rate while it is there: a Pod, a volume, a Run. */
export interface Source {
  tenant: string;
  namespace: string;
  /** By second. */
  rates: Amounts;
  /** Milliseconds since the epoch: what it used before counts elsewhere, or not at all. */
  since: number;
}

interface Followed extends Source {
  measuredAt: number;
}

/** What tenants use, as rates over time, put together by hour. Keeps no time of its own. */
export class UsageMeter {
  readonly #sources = new Map<string, Map<string, Followed>>();
  readonly #tenantOf = new Map<string, string>();
  readonly #rows = new Map<string, UsageRows>();

  get tenants(): Set<string> {
    return new Set([...this.#sources.keys(), ...this.#rows.keys()]);
  }

  /** It is there from `since` on; or from now on at other rates, or for another tenant. */
  follow(id: string, source: Source, now: number): void {
    const known = this.#find(id);
    if (known && isSame(known, source)) return;
    if (known) this.end(id, now);
    const since = Math.max(source.since, known ? now : 0, now - LONGEST_UNSEEN_MS);
    const ofTenant = this.#sources.get(source.tenant) ?? new Map<string, Followed>();
    this.#sources.set(source.tenant, ofTenant);
    ofTenant.set(id, { ...source, since, measuredAt: since });
    this.#tenantOf.set(id, source.tenant);
  }

  end(id: string, now: number): void {
    const source = this.#find(id);
    if (!source) return;
    this.#settle(source, now);
    const ofTenant = this.#sources.get(source.tenant)!;
    ofTenant.delete(id);
    if (ofTenant.size === 0) this.#sources.delete(source.tenant);
    this.#tenantOf.delete(id);
  }

  /** It was seen to use so much at this moment. */
  measured(id: string, rates: Amounts, now: number): void {
    const source = this.#find(id);
    if (!source || now <= source.measuredAt) return;
    this.#spread(source, rates, Math.max(source.measuredAt, now - LONGEST_MEASURED_MS), now);
    source.measuredAt = now;
  }

  count(tenant: string, namespace: string, measure: Measure, now: number): void {
    addRow(this.#rowsOf(tenant), hourOf(now), namespace, { [measure]: 1 });
  }

  /** Counts what the tenant used until now; whoever iterates may do something else between two steps. */
  *settle(tenant: string, now: number): Generator<void, void> {
    let settled = 0;
    for (const source of this.#sources.get(tenant)?.values() ?? []) {
      this.#settle(source, now);
      if (++settled % SOURCES_PER_STEP === 0) yield;
    }
  }

  /** What was counted for the tenant and nobody has taken yet. */
  take(tenant: string): UsageRows {
    const rows = this.#rows.get(tenant) ?? new Map();
    this.#rows.delete(tenant);
    return rows;
  }

  /** It could not be written after all. */
  giveBack(tenant: string, rows: UsageRows): void {
    addRows(this.#rowsOf(tenant), rows);
  }

  #find(id: string): Followed | undefined {
    const tenant = this.#tenantOf.get(id);
    return tenant === undefined ? undefined : this.#sources.get(tenant)?.get(id);
  }

  #rowsOf(tenant: string): UsageRows {
    const rows = this.#rows.get(tenant) ?? (new Map() as UsageRows);
    this.#rows.set(tenant, rows);
    return rows;
  }

  #settle(source: Followed, now: number): void {
    // Nor do clocks that were set back undo what was counted.
    if (now <= source.since) return;
    this.#spread(source, source.rates, Math.max(source.since, now - LONGEST_UNSEEN_MS), now);
    source.since = now;
  }

  #spread({ tenant, namespace }: Source, rates: Amounts, from: number, to: number): void {
    for (let at = from; at < to;) {
      const end = Math.min(to, (Math.floor(at / HOUR_MS) + 1) * HOUR_MS);
      const seconds = (end - at) / 1000;
      const amounts = Object.fromEntries(Object.entries(rates).map(([measure, rate]) => [measure, rate * seconds]));
      if (Object.keys(amounts).length > 0) addRow(this.#rowsOf(tenant), hourOf(at), namespace, amounts);
      at = end;
    }
  }
}

function isSame(a: Source, b: Source): boolean {
  const keys = new Set([...Object.keys(a.rates), ...Object.keys(b.rates)]) as Set<Measure>;
  return a.tenant === b.tenant && a.namespace === b.namespace && [...keys].every((key) => a.rates[key] === b.rates[key]);
}
