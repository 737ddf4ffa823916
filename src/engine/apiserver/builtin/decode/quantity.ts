const PATTERN = /^([+-]?)(\d*)(?:\.(\d*))?(|[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)$/;
const DECIMAL_SUFFIXES: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL_BY_EXPONENT = new Map(Object.entries(DECIMAL_SUFFIXES).map(([suffix, exponent]) => [exponent, suffix]));

const known = new Map<string, string>();
/** Quantities in a cluster repeat (100m, 128Mi ...), but a tenant may send any number of different ones. */
const KNOWN_LIMIT = 4096;

/** The one way Kubernetes prints a quantity (`1000m` is `1`, `1024Mi` is `1Gi`); undefined when it is not one. */
export function canonicalQuantity(text: string): string | undefined {
  const found = known.get(text);
  if (found !== undefined) return found;
  const canonical = canonicalize(text);
  if (canonical !== undefined && known.size < KNOWN_LIMIT) known.set(text, canonical);
  return canonical;
}

function canonicalize(text: string): string | undefined {
  const match = PATTERN.exec(text);
  if (!match || (match[2] === '' && (match[3] ?? '') === '')) return undefined;
  const [, sign, whole = '', fraction = '', suffix = ''] = match;
  if (isReused(whole, fraction, suffix)) return text;
  const digits = BigInt(whole + fraction);
  // Everything is counted in nanos, the smallest that a quantity can hold; what is finer is rounded up, away from zero.
  const scale = 9 - fraction.length;
  const binary = BINARY_SUFFIXES.indexOf(suffix);
  let nanos: bigint;
  if (suffix !== '' && binary > 0) nanos = scaled(digits * 1024n ** BigInt(binary), scale);
  else nanos = scaled(digits, scale + (DECIMAL_SUFFIXES[suffix] ?? Number(suffix.slice(1))));
  if (nanos === 0n) return '0';
  const signText = sign === '-' ? '-' : '';
  const isExponent = suffix.length > 1 && /^[eE]/.test(suffix) && binary < 0;
  // Below 1024 the binary form has nothing to divide by, and fractions of a byte have no binary suffix.
  if (binary > 0 && nanos >= 1024n * 1_000_000_000n) return signText + printBinary(nanos);
  return signText + printDecimal(nanos, isExponent);
}

/** Kubernetes keeps the text of decimal quantities that look canonical at a glance, such as `1.500` or `+2`. */
function isReused(whole: string, fraction: string, suffix: string): boolean {
  const exponent = DECIMAL_SUFFIXES[suffix] ?? (/^[eE]/.test(suffix) ? Number(suffix.slice(1)) : undefined);
  const digits = whole.replace(/^0+/, '') + fraction;
  if (exponent === undefined || Number.isNaN(exponent) || digits === '' || digits.length > 18) return false;
  const scale = exponent - fraction.length;
  const stripped = /^0*$/.test(whole);
  return scale >= -9 && scale % 3 === 0 && !digits.endsWith('000') && !stripped;
}

function scaled(digits: bigint, exponent: number): bigint {
  if (exponent >= 0) return digits * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return (digits + divisor - 1n) / divisor;
}

function printBinary(nanos: bigint): string {
  if (nanos % 1_000_000_000n !== 0n) return printDecimal(nanos, false);
  let value = nanos / 1_000_000_000n;
  let index = 0;
  while (value % 1024n === 0n && index < BINARY_SUFFIXES.length - 1) {
    value /= 1024n;
    index += 1;
  }
  return `${value}${BINARY_SUFFIXES[index]}`;
}

function printDecimal(nanos: bigint, asExponent: boolean): string {
  let value = nanos;
  let exponent = -9;
  while (value % 1000n === 0n && exponent < 18) {
    value /= 1000n;
    exponent += 3;
  }
  if (!asExponent) return `${value}${DECIMAL_BY_EXPONENT.get(exponent)}`;
  return exponent === 0 ? `${value}` : `${value}e${exponent}`;
}
