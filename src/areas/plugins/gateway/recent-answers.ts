import type { Clock } from '../../../lib/clock.ts';

const MOST = 10_000;

/** Answers that are believed for a while, each asked for once however many wait for it. Failures are not kept. */
export class RecentAnswers<T> {
  readonly #clock: Clock;
  readonly #believedMs: number;
  readonly #answers = new Map<string, { answer: Promise<T>; until: number }>();

  constructor(clock: Clock, believedMs: number) {
    this.#clock = clock;
    this.#believedMs = believedMs;
  }

  has(key: string): boolean {
    return (this.#answers.get(key)?.until ?? 0) > this.#clock.monotonic();
  }

  get(key: string, ask: () => Promise<T>): Promise<T> {
    const now = this.#clock.monotonic();
    const known = this.#answers.get(key);
    if (known && known.until > now) return known.answer;
    const answer = ask();
    this.#answers.delete(key);
    this.#answers.set(key, { answer, until: now + this.#believedMs });
    answer.catch(() => this.#answers.delete(key));
    // The oldest are in front.
    for (const [oldest, { until }] of this.#answers) {
      if (until > now && this.#answers.size <= MOST) break;
      this.#answers.delete(oldest);
    }
    return answer;
  }
}
