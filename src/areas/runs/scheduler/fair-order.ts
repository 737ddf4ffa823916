/** Members that take turns by weight: one with twice the weight is served twice as often. Those with nothing to do cost nothing. */
export class FairOrder<T> {
  readonly #members = new Map<string, { value: T; pass: number; weight: number }>();
  /** How far the turn has come: who joins late does not make up for the time away. */
  #now = 0;

  get size(): number {
    return this.#members.size;
  }

  get(key: string): T | undefined {
    return this.#members.get(key)?.value;
  }

  add(key: string, value: T, weight: number): void {
    const known = this.#members.get(key);
    if (known === undefined) this.#members.set(key, { value, pass: this.#now, weight });
    else known.weight = weight;
  }

  remove(key: string): void {
    this.#members.delete(key);
  }

  /** The member whose turn it is. The number of members with work is small (tenants, namespaces), so they are simply looked through. */
  next(): { key: string; value: T } | undefined {
    let first: [string, { value: T; pass: number }] | undefined;
    for (const entry of this.#members) if (first === undefined || entry[1].pass < first[1].pass) first = entry;
    return first && { key: first[0], value: first[1].value };
  }

  /** Counts one turn of the member. */
  served(key: string): void {
    const member = this.#members.get(key);
    if (member === undefined) return;
    this.#now = Math.max(this.#now, member.pass);
    member.pass += 1 / member.weight;
  }
}
