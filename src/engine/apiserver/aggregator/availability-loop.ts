import { formatTime } from '../../../kube/time.ts';
import { Backoff } from '../../../lib/backoff.ts';
import type { Clock, Timer } from '../../../lib/clock.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { ObjectChange, ObjectWriter } from '../registry/objects.ts';
import { API_SERVICES } from './api-service.ts';
import { setAvailable, type AvailableCondition } from './availability.ts';

/** A server that went away without a word is found out this fast. No watch can tell: nothing in the API changes. */
const RECHECK_MS = 30_000;
const RETRY = { initialMs: 200, maxMs: RECHECK_MS };

export interface AvailabilityLoopOptions {
  writer: ObjectWriter;
  clock: Clock;
  /** The condition an APIService should have now; undefined when it is gone. */
  check: (name: string) => Promise<AvailableCondition | undefined>;
  /** Names of the APIServices that depend on a service. */
  dependants: (namespace: string, service: string) => string[];
  onError: (error: unknown) => void;
}

/** Keeps the condition Available of all APIServices current. One check at a time per APIService. */
export class AvailabilityLoop {
  readonly #options: AvailabilityLoopOptions;
  readonly #states = new Map<string, { running: boolean; again: boolean; timer?: Timer; backoff: Backoff }>();
  readonly #stops: (() => void)[] = [];
  #stopped = true;

  constructor(options: AvailabilityLoopOptions) {
    this.#options = options;
  }

  start(): void {
    if (!this.#stopped) return;
    this.#stopped = false;
    const { writer } = this.#options;
    this.#stops.push(writer.onChange(API_SERVICES, (change) => this.#onApiService(change)));
    this.#stops.push(
      writer.onChange({ group: '', resource: 'services' }, ({ object }) =>
        this.#onService(object.metadata.namespace, object.metadata.name),
      ),
    );
    this.#stops.push(
      writer.onChange({ group: '', resource: 'endpoints' }, ({ object }) =>
        this.#onService(object.metadata.namespace, object.metadata.name),
      ),
    );
    this.#stops.push(
      writer.onChange({ group: 'discovery.k8s.io', resource: 'endpointslices' }, ({ object }) =>
        this.#onService(object.metadata.namespace, object.metadata.labels?.['kubernetes.io/service-name']),
      ),
    );
    for (const { metadata } of writer.list(API_SERVICES)) this.wake(metadata.name!);
  }

  stop(): void {
    this.#stopped = true;
    for (const stop of this.#stops.splice(0)) stop();
    for (const state of this.#states.values()) state.timer?.cancel();
    this.#states.clear();
  }

  wake(name: string): void {
    if (this.#stopped) return;
    let state = this.#states.get(name);
    if (!state) this.#states.set(name, (state = { running: false, again: false, backoff: new Backoff(RETRY) }));
    if (state.running) state.again = true;
    else void this.#run(name);
  }

  #onApiService({ type, object, previous }: ObjectChange): void {
    const name = object.metadata.name!;
    if (type === 'DELETED') {
      this.#states.get(name)?.timer?.cancel();
      this.#states.delete(name);
    }
    // Our own status writes must not wake us.
    if (!previous || !deepEqual(previous.spec, object.spec)) this.wake(name);
  }

  #onService(namespace: string | undefined, service: string | undefined): void {
    if (namespace && service) for (const name of this.#options.dependants(namespace, service)) this.wake(name);
  }

  async #run(name: string): Promise<void> {
    const state = this.#states.get(name)!;
    state.running = true;
    state.timer?.cancel();
    let next: number | undefined;
    try {
      next = await this.#check(name);
    } catch (error) {
      this.#options.onError(error);
      next = state.backoff.next();
    }
    state.running = false;
    if (this.#stopped || this.#states.get(name) !== state) return;
    if (state.again) {
      state.again = false;
      this.wake(name);
    } else if (next === undefined) this.#states.delete(name);
    else state.timer = this.#options.clock.setTimer(next, () => this.wake(name));
  }

  /** @returns when to look again; undefined: only when something changes. */
  async #check(name: string): Promise<number | undefined> {
    const { writer, clock, check } = this.#options;
    const condition = await check(name);
    if (!condition || this.#stopped) return undefined;
    const now = formatTime(new Date(clock.now()));
    await writer
      .update(API_SERVICES, '', name, (draft) => setAvailable(draft, condition, now), 'status')
      .catch((error: unknown) => {
        if (!isStatusError(error, 'NotFound')) throw error;
      });
    if (condition.reason === 'Local') return undefined;
    const { backoff } = this.#states.get(name) ?? {};
    if (condition.reason !== 'FailedDiscoveryCheck') backoff?.reset();
    return condition.reason === 'FailedDiscoveryCheck' ? (backoff?.next() ?? RECHECK_MS) : RECHECK_MS;
  }
}
