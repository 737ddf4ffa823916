/** Ranges of sizes and costs, whose arithmetic stops at the largest 64-bit number instead of overflowing. */
export interface Range {
  min: bigint;
  max: bigint;
}

export const MOST = (1n << 64n) - 1n;
export const UNKNOWN: Range = { min: 0n, max: MOST };

const cap = (value: bigint): bigint => (value > MOST ? MOST : value);

export const fixed = (value: bigint): Range => ({ min: value, max: value });

export const plus = (left: Range, right: Range): Range => ({ min: cap(left.min + right.min), max: cap(left.max + right.max) });

export const times = (left: Range, right: Range): Range => ({ min: cap(left.min * right.min), max: cap(left.max * right.max) });

export const union = (left: Range, right: Range): Range => ({
  min: left.min < right.min ? left.min : right.min,
  max: left.max > right.max ? left.max : right.max,
});

/** Times a fraction, rounded up, with the precision of a double as upstream has it. */
export function scaled(range: Range, factor: number): Range {
  const scale = (value: bigint): bigint => {
    const product = Math.ceil(Number(value) * factor);
    return product >= 2 ** 64 ? MOST : BigInt(product);
  };
  return { min: scale(range.min), max: scale(range.max) };
}
