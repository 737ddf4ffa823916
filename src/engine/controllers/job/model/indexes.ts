/** Sets of completion indexes as Kubernetes writes them: `0,2-5,7`. Ordered, without overlaps. */
export class Indexes {
  static readonly none = new Indexes([]);
  readonly #ranges: readonly (readonly [number, number])[];

  private constructor(ranges: readonly (readonly [number, number])[]) {
    this.#ranges = ranges;
  }

  static of(indexes: Iterable<number>): Indexes {
    return Indexes.#merged([...indexes].map((index) => [index, index] as const));
  }

  /** What cannot be read is left out, and everything from `completions` on. */
  static parse(text: string | undefined, completions: number): Indexes {
    const ranges: [number, number][] = [];
    for (const part of (text ?? '').split(',')) {
      const match = /^(\d+)(?:-(\d+))?$/.exec(part);
      if (!match) continue;
      const first = Number(match[1]);
      if (first < completions) ranges.push([first, Math.min(Number(match[2] ?? first), completions - 1)]);
    }
    return Indexes.#merged(ranges);
  }

  static #merged(ranges: (readonly [number, number])[]): Indexes {
    const merged: [number, number][] = [];
    for (const [first, last] of ranges.sort((a, b) => a[0] - b[0])) {
      const previous = merged.at(-1);
      if (previous && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last);
      else merged.push([first, last]);
    }
    return new Indexes(merged);
  }

  get size(): number {
    return this.#ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  }

  has(index: number): boolean {
    return this.#ranges.some(([first, last]) => first <= index && index <= last);
  }

  union(other: Indexes): Indexes {
    return Indexes.#merged([...this.#ranges, ...other.#ranges]);
  }

  overlap(other: Indexes): number {
    let common = 0;
    for (const [first, last] of this.#ranges) {
      for (const [otherFirst, otherLast] of other.#ranges)
        common += Math.max(0, Math.min(last, otherLast) - Math.max(first, otherFirst) + 1);
    }
    return common;
  }

  /** The first `count` indexes below `completions` that are not in the set. */
  missing(count: number, completions: number): number[] {
    const found: number[] = [];
    let candidate = 0;
    for (const [first, last] of [...this.#ranges, [completions, completions] as const]) {
      for (; candidate < Math.min(first, completions) && found.length < count; candidate++) found.push(candidate);
      candidate = Math.max(candidate, last + 1);
    }
    return found;
  }

  toString(): string {
    return this.#ranges
      .map(([first, last]) => (first === last ? `${first}` : `${first}${last === first + 1 ? ',' : '-'}${last}`))
      .join(',');
  }
}
