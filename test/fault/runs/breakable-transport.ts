import type { Transport, TransportRequest, TransportResponse } from '../../../src/client/transport.ts';
import { TransportError } from '../../../src/client/transport-error.ts';
import type { WatchEvent } from '../../../src/kube/watch-event.ts';

/** What is done to one request: it is lost on the way, or done and its answer lost. */
export type Loss = 'request' | 'answer';

/** The connection of one process to the API server. What breaks it stands for the death of the process, or of the network between the two. */
export class BreakableTransport implements Transport {
  readonly #inner: Transport;
  readonly #ends = new AbortController();
  #isCut = false;
  #thawed: Promise<void> | undefined;
  #thaw: (() => void) | undefined;
  /** Called before each request; what it returns happens to the request. */
  before: (request: TransportRequest) => Promise<Loss | undefined> | Loss | undefined = () => undefined;
  /** How often each watch event is delivered. */
  copies = 1;

  constructor(inner: Transport) {
    this.#inner = inner;
  }

  /** As `kill -9` looks from outside: nothing leaves the process any more, and nothing comes in. */
  cut(): void {
    this.#isCut = true;
    this.#ends.abort();
    this.thaw();
  }

  /** Requests that are sent from now on are on their way until `thaw`. */
  freeze(): void {
    this.#thawed ??= new Promise((resolve) => (this.#thaw = resolve));
  }

  thaw(): void {
    this.#thaw?.();
    this.#thawed = undefined;
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    const loss = this.#isCut ? 'request' : await this.before(request);
    await this.#thawed;
    if (loss === 'request' || this.#isCut) throw lost();
    // What is under way when its sender dies is done all the same.
    const response = await this.#inner.request(this.#isCut ? { ...request, signal: undefined } : request);
    if (loss === 'answer' || this.#isCut) throw lost();
    return response;
  }

  async watch(request: TransportRequest): Promise<AsyncIterable<WatchEvent>> {
    if (this.#isCut) throw lost();
    const signals = [this.#ends.signal, ...(request.signal === undefined ? [] : [request.signal])];
    return this.#copied(await this.#inner.watch({ ...request, signal: AbortSignal.any(signals) }));
  }

  async *#copied(events: AsyncIterable<WatchEvent>): AsyncIterable<WatchEvent> {
    for await (const event of events) for (let copy = 0; copy < this.copies; copy++) yield event;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function lost(): TransportError {
  return new TransportError('ConnectionLost', 'the connection broke');
}
