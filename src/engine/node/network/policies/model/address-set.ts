import type { NftTable } from '../../ruleset/nft-table.ts';

/** A set of addresses in the table, filled Pod by Pod. Pods in the machine's network share an address, so each is counted. */
export class AddressSet {
  readonly name: string;
  #table: NftTable;
  #byPod = new Map<string, readonly string[]>();
  #counts = new Map<string, number>();

  constructor(table: NftTable, name: string) {
    this.#table = table;
    this.name = name;
    table.declareSet(name, { kind: 'set', definition: 'type ipv4_addr;' });
  }

  has(uid: string): boolean {
    return this.#byPod.has(uid);
  }

  /** No addresses: the Pod does not belong here. */
  place(uid: string, addresses: readonly string[]): void {
    const before = this.#byPod.get(uid) ?? [];
    for (const address of addresses) if (!before.includes(address)) this.#count(address, 1);
    for (const address of before) if (!addresses.includes(address)) this.#count(address, -1);
    if (addresses.length > 0) this.#byPod.set(uid, addresses);
    else this.#byPod.delete(uid);
  }

  drop(): void {
    this.#table.deleteSet(this.name);
  }

  #count(address: string, by: number): void {
    const count = (this.#counts.get(address) ?? 0) + by;
    if (count > 0) {
      this.#counts.set(address, count);
      this.#table.addElement(this.name, address);
    } else {
      this.#counts.delete(address);
      this.#table.deleteElement(this.name, address);
    }
  }
}
