import type { Clock, Timer } from '../../../../lib/clock.ts';
import type { Log } from '../../../../lib/log.ts';
import { Rounds } from '../rounds.ts';
import type { NftTable } from './nft-table.ts';

/** Hands a text to nft, as one transaction. */
export type RunNft = (text: string) => Promise<unknown>;

const RETRY_MS = 1000;

/**
 * Brings a table into the kernel, one transaction at a time; what changes while one is under way goes with the next. A transaction that the
 * kernel refuses is followed by the whole table, so that an unexpected state heals itself.
 */
export class NftWriter {
  #table: NftTable;
  #run: RunNft;
  #log: Log;
  #clock: Clock;
  #retry: Timer | undefined;
  #stopped = false;
  #whole = true;
  #rounds = new Rounds(() => this.#write());

  constructor(options: { table: NftTable; run: RunNft; clock: Clock; log: Log }) {
    this.#table = options.table;
    this.#run = options.run;
    this.#log = options.log;
    this.#clock = options.clock;
  }

  /** Resolves when everything that the table says now holds in the kernel. The first time, and after a failure, all of it is written. */
  flush(): Promise<void> {
    return this.#rounds.request();
  }

  /** Waits for what is under way and tries nothing again. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#retry?.cancel();
    await this.#rounds.idle();
  }

  async #write(): Promise<void> {
    if (!this.#whole) {
      const changes = this.#table.takeChanges();
      if (changes === '') return;
      try {
        await this.#run(changes);
        return;
      } catch (error) {
        this.#log.warn('the kernel refused a change of rules; writing all of them', { error });
      }
    }
    this.#whole = true;
    try {
      await this.#run(this.#table.takeWhole());
      this.#whole = false;
    } catch (error) {
      this.#retryLater();
      throw error;
    }
  }

  /** No change may come for long, and what was refused must hold all the same. */
  #retryLater(): void {
    this.#retry?.cancel();
    if (this.#stopped) return;
    this.#retry = this.#clock.setTimer(RETRY_MS, () => {
      this.flush().catch((error: unknown) => this.#log.error('cannot bring rules into the kernel; trying again', { error }));
    });
  }
}
