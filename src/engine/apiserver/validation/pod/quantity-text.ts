const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];

/** The canonical text of an amount in billionths, in the format (binary or decimal) of `sample`. */
export function formatNanos(amount: bigint, sample: string): string {
  const isBinary = sample.endsWith('i') && amount % 1_000_000_000n === 0n;
  const unit = isBinary ? 1024n : 1000n;
  const suffixes = isBinary ? BINARY : DECIMAL;
  let value = isBinary ? amount / 1_000_000_000n : amount;
  let step = 0;
  while (value !== 0n && value % unit === 0n && step < suffixes.length - 1) {
    value /= unit;
    step++;
  }
  return value === 0n ? '0' : `${value}${suffixes[step]}`;
}
