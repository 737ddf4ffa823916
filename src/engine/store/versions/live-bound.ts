/** Over the bound by so much of it existing keys may grow: a deletion may need a mark on the object first. */
const RESERVE = 1 / 16;
const MAX_RESERVE_BYTES = 16 * 1024 * 1024;

/** How much may live in a store, with what waits for its commit counted. */
export class LiveBound {
  maxBytes = Number.POSITIVE_INFINITY;
  /** By so much live data changes when all that waits is durable. */
  #waiting = 0;

  /** Whether `growth` more bytes fit, of a key that is there (`former`) or a new one. What makes nothing larger always does. */
  fits(liveBytes: number, growth: number, former: boolean): boolean {
    const reserve = former ? Math.min(this.maxBytes * RESERVE, MAX_RESERVE_BYTES) : 0;
    return growth <= 0 || liveBytes + this.#waiting + growth <= this.maxBytes + reserve;
  }

  waits(growth: number): void {
    this.#waiting += growth;
  }

  /** It is part of the live data now. */
  settled(growth: number): void {
    this.#waiting -= growth;
  }

  allRefused(): void {
    this.#waiting = 0;
  }
}
