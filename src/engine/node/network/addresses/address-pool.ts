import { contains, toNumber, toText, type Ipv4Range } from '../../../../kube/ipv4-range.ts';

export interface AddressPoolState {
  /** Pod uid to address. */
  assigned: Record<string, string>;
  /** Where the search for a free address goes on. */
  cursor: string;
}

/**
 * Who has which address. Searching on from the last one given out means that an address rests as long as possible after its Pod is gone, so
 * that late packets of old connections do not meet a new Pod.
 */
export class AddressPool {
  #range: Ipv4Range;
  #byPod = new Map<string, string>();
  #holders = new Map<string, string>();
  #cursor: number;

  /** State of before may be partly or wholly unusable: what does not fit is ignored. */
  constructor(range: Ipv4Range, state: Partial<AddressPoolState> = {}) {
    this.#range = range;
    for (const [uid, address] of Object.entries(state.assigned ?? {})) this.#take(uid, address);
    const cursor = state.cursor === undefined ? range.first : toNumber(state.cursor);
    this.#cursor = cursor >= range.first && cursor <= range.last ? cursor : range.first;
  }

  get(uid: string): string | undefined {
    return this.#byPod.get(uid);
  }

  /** The uid of the Pod that has the address. */
  holder(address: string): string | undefined {
    return this.#holders.get(address);
  }

  /** The Pod's address, the same one whenever asked. A known address of before is taken if it is free. */
  assign(uid: string, known?: string): string {
    const present = this.#byPod.get(uid);
    if (present !== undefined) return present;
    if (known !== undefined && this.#take(uid, known)) return known;
    const size = this.#range.last - this.#range.first + 1;
    for (let tried = 0; tried < size; tried++) {
      const address = toText(this.#cursor);
      this.#cursor = this.#cursor === this.#range.last ? this.#range.first : this.#cursor + 1;
      if (this.#take(uid, address)) return address;
    }
    throw new Error(`Cannot give Pod "${uid}" an address: all ${size} are in use; delete Pods or start with a larger podCidr`);
  }

  release(uid: string): string | undefined {
    const address = this.#byPod.get(uid);
    if (address === undefined) return undefined;
    this.#byPod.delete(uid);
    this.#holders.delete(address);
    return address;
  }

  addresses(): string[] {
    return [...this.#holders.keys()];
  }

  uids(): string[] {
    return [...this.#byPod.keys()];
  }

  state(): AddressPoolState {
    return { assigned: Object.fromEntries(this.#byPod), cursor: toText(this.#cursor) };
  }

  #take(uid: string, address: string): boolean {
    if (this.#holders.has(address) || !contains(this.#range, address)) return false;
    this.#byPod.set(uid, address);
    this.#holders.set(address, uid);
    return true;
  }
}
