import type { Client } from '../client/client.ts';
import { Lease } from '../client/kinds.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { formatMicroTime } from '../kube/time.ts';
import { linkSignals, sleep } from '../lib/abort.ts';
import type { Log } from '../lib/log.ts';

export interface LeaderElectionOptions {
  client: Client;
  log: Log;
  namespace: string;
  name: string;
  /** Different for each process that stands for election. */
  identity: string;
  /** Others may take over after so long without a renewal; 15 s. */
  leaseDurationMs?: number;
  /** A leader that could not renew for so long stops leading; 10 s, less than the lease's duration. */
  renewDeadlineMs?: number;
  /** Between attempts; 2 s. */
  retryPeriodMs?: number;
}

interface Observed {
  /** The renewal that was seen last, and when on our own clock: the clocks of others are not trusted. */
  renewal: string;
  at: number;
}

/**
 * Runs `lead` while this process holds the Lease, and gives the Lease up when it ends. Between two processes there is never a moment
 * when both lead, as long as their clocks run at the same speed: a leader stops (its signal fires and `lead` has ended) before others may start.
 * @returns `stopped` when the signal fired, `lost` when the Lease could not be renewed in time, `finished` when `lead` ended by itself.
 */
export async function runAsLeader(
  options: LeaderElectionOptions,
  lead: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<'stopped' | 'lost' | 'finished'> {
  const election = new Election(options);
  if (!(await election.acquire(signal))) return 'stopped';
  options.log.info('leading', { lease: `${options.namespace}/${options.name}`, identity: options.identity });
  const leading = linkSignals(signal);
  let finished = false;
  const work = lead(leading.signal).finally(() => {
    finished = true;
    leading.abort();
  });
  work.catch(() => {});
  const lost = !(await election.renewUntil(leading.signal));
  leading.abort();
  try {
    await work;
  } finally {
    if (!lost) await election.release();
  }
  if (lost) {
    options.log.warn('lost the lease', { lease: `${options.namespace}/${options.name}`, identity: options.identity });
    return 'lost';
  }
  return finished && !signal.aborted ? 'finished' : 'stopped';
}

class Election {
  #options: LeaderElectionOptions;
  #durationMs: number;
  #renewDeadlineMs: number;
  #retryMs: number;
  #observed: Observed | undefined;
  #held: KubeObject | undefined;
  /** When the newest renewal that succeeded was sent: others may have seen it from then on, however late we heard of it. */
  #renewed = 0;

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#durationMs = options.leaseDurationMs ?? 15_000;
    this.#renewDeadlineMs = options.renewDeadlineMs ?? 10_000;
    this.#retryMs = options.retryPeriodMs ?? 2000;
  }

  /** True once the Lease is ours, false when the signal fired first. */
  async acquire(signal: AbortSignal): Promise<boolean> {
    const { log, client } = this.#options;
    while (!signal.aborted) {
      try {
        if (await this.#tryHold(signal)) return true;
      } catch (error) {
        if (signal.aborted) return false;
        if (!isStatusError(error, 'Conflict') && !isStatusError(error, 'AlreadyExists')) log.warn('cannot stand for election', { error });
      }
      // A timer, because a Lease that is not renewed changes nothing that a watch could see.
      await sleep(client.clock, this.#retryMs, signal).catch(() => {});
    }
    return false;
  }

  /** Renews until the signal fires (true) or the deadline passes without a renewal (false). */
  async renewUntil(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options.client;
    while (!signal.aborted) {
      await sleep(clock, this.#retryMs, signal).catch(() => {});
      if (signal.aborted) return true;
      const attempt = linkSignals(signal);
      const deadline = clock.setTimer(this.#renewDeadlineMs - (clock.monotonic() - this.#renewed), () => attempt.abort());
      try {
        if (!(await this.#tryHold(attempt.signal))) return false;
      } catch (error) {
        if (signal.aborted) return true;
        this.#held = undefined;
        if (clock.monotonic() - this.#renewed >= this.#renewDeadlineMs) return false;
        this.#options.log.warn('cannot renew the lease, will try again', { error });
      } finally {
        deadline.cancel();
        attempt.dispose();
      }
    }
    return true;
  }

  /** Lets others take over at once. */
  async release(): Promise<void> {
    const held = this.#held;
    if (!held) return;
    const { client, namespace, log } = this.#options;
    const now = formatMicroTime(new Date(client.clock.now()));
    const spec = { ...held.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
    try {
      await client.resource(Lease, namespace).update({ ...held, spec });
    } catch (error) {
      log.debug('cannot release the lease, it will expire', { error });
    }
  }

  async #tryHold(signal: AbortSignal): Promise<boolean> {
    const { client, namespace, name, identity } = this.#options;
    const leases = client.resource(Lease, namespace);
    const begun = client.clock.monotonic();
    const current = this.#held ?? (await leases.get(name, { signal }).catch(undefinedWhenAbsent));
    if (!current) {
      this.#held = await leases.create({ metadata: { name, namespace }, spec: this.#spec(undefined) }, { signal });
      this.#renewed = begun;
      return true;
    }
    if (!this.#mayTake(current)) return false;
    this.#held = undefined;
    this.#held = await leases.update({ ...current, spec: this.#spec(current) }, { signal });
    this.#renewed = begun;
    return this.#held.spec?.holderIdentity === identity;
  }

  #mayTake(current: KubeObject): boolean {
    const { identity, client } = this.#options;
    const { holderIdentity, renewTime = '', leaseDurationSeconds } = current.spec ?? {};
    if (!holderIdentity || holderIdentity === identity) return true;
    const now = client.clock.monotonic();
    const renewal = `${holderIdentity}@${renewTime}`;
    if (this.#observed?.renewal !== renewal) this.#observed = { renewal, at: now };
    const duration = typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds * 1000 : this.#durationMs;
    return now - this.#observed.at >= duration;
  }

  #spec(current: KubeObject | undefined): Record<string, unknown> {
    const { identity, client } = this.#options;
    const now = formatMicroTime(new Date(client.clock.now()));
    const ours = current?.spec?.holderIdentity === identity;
    const transitions = current?.spec?.leaseTransitions ?? 0;
    return {
      ...current?.spec,
      holderIdentity: identity,
      leaseDurationSeconds: Math.round(this.#durationMs / 1000),
      acquireTime: ours ? current?.spec?.acquireTime : now,
      renewTime: now,
      leaseTransitions: current && !ours ? transitions + 1 : transitions,
    };
  }
}

function undefinedWhenAbsent(error: unknown): undefined {
  if (!isStatusError(error, 'NotFound')) throw error;
  return undefined;
}
