import { createHash } from 'node:crypto';
import type { Clock } from '../../../lib/clock.ts';
import { Refusal } from './model/refusal.ts';
import { RequestRates, type Rate } from './model/request-rate.ts';
import { RecentAnswers } from './recent-answers.ts';

export interface User {
  type: 'user';
  name: string;
  groups: string[];
  uid?: string;
}

/** What was said about a token is believed for so long. */
const BELIEVED_MS = 10_000;
/** A token that was good is looked at again without regard to what else comes from its address. */
const REMEMBERED_MS = 3600_000;
const MOST_REMEMBERED = 10_000;
/** Tokens of nobody that one address may try. Behind a proxy all callers have one: those that are known are not held up by the others. */
const FAILURES: Rate = { limit: 60, windowMs: 60_000 };

/** Who has a token, as the API server says; it is not asked about whatever somebody makes up. */
export class TokenReviews {
  readonly #review: (token: string) => Promise<User | undefined>;
  readonly #clock: Clock;
  /** Apart, so that made-up tokens drive no real ones out. */
  readonly #known: RecentAnswers<User>;
  readonly #unknown: RecentAnswers<undefined>;
  /** When a token was last good, the oldest in front. */
  readonly #remembered = new Map<string, number>();
  readonly #failures = new RequestRates();

  constructor(review: (token: string) => Promise<User | undefined>, clock: Clock) {
    this.#review = review;
    this.#clock = clock;
    this.#known = new RecentAnswers(clock, BELIEVED_MS);
    this.#unknown = new RecentAnswers(clock, BELIEVED_MS);
  }

  /** @throws Refusal */
  async userOf(token: string, address: string): Promise<User | undefined> {
    const key = createHash('sha256').update(token).digest('base64');
    if (this.#unknown.has(key)) return undefined;
    try {
      return await this.#known.get(key, () => this.#ask(token, key, address));
    } catch (error) {
      if (error instanceof UnknownToken) return undefined;
      throw error;
    }
  }

  async #ask(token: string, key: string, address: string): Promise<User> {
    const now = this.#clock.monotonic();
    const isRemembered = (this.#remembered.get(key) ?? Number.NEGATIVE_INFINITY) > now - REMEMBERED_MS;
    const waitMs = isRemembered ? 0 : this.#failures.take(address, FAILURES, now);
    if (waitMs > 0) throw new Refusal('REQUEST_RATE_EXCEEDED', 'Cannot look at this token: too many from here were nobody’s; wait', waitMs);
    let isFailure = false;
    try {
      const user = await this.#review(token);
      isFailure = user === undefined;
      if (user) {
        this.#remember(key);
        return user;
      }
      void this.#unknown.get(key, () => Promise.resolve(undefined));
      throw new UnknownToken();
    } finally {
      // Counted before the answer is there, so that many at once are no way around.
      if (!isFailure && !isRemembered) this.#failures.giveBack(address);
    }
  }

  #remember(key: string): void {
    this.#remembered.delete(key);
    this.#remembered.set(key, this.#clock.monotonic());
    for (const oldest of this.#remembered.keys()) {
      if (this.#remembered.size <= MOST_REMEMBERED) break;
      this.#remembered.delete(oldest);
    }
  }
}

class UnknownToken extends Error {}
