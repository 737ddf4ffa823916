/**
 * Amounts of resources ("500m", "1.5Gi", "1e3") with Kubernetes' arithmetic: exact down to a billionth, rounded away from zero
 * beyond that, printed in the one canonical form of their notation.
 */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

export class QuantityError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'QuantityError';
  }
}

export const QUANTITY_FORMAT_ERROR = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NUMERIC_ERROR = 'unable to parse numeric part of quantity';
const SUFFIX_ERROR = "unable to parse quantity's suffix";

const SHAPE = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/;
/** Forms that are canonical as they stand: most of what is ever written. */
const CANONICAL = /^(?:0|[1-9]\d{0,2}(?:[mkMGTP]|[KMGTP]i)?)$/;

const DECIMAL_SUFFIXES: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY_SUFFIXES: Record<string, number> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
const DECIMAL_NAMES = new Map(Object.entries(DECIMAL_SUFFIXES).map(([name, exponent]) => [exponent, name]));
const BINARY_NAMES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

const NANO = 1_000_000_000n;
const MAX_BINARY = ((1n << 63n) - 1n) * NANO;
/** Bounds for hostile input: far beyond any amount, far below what makes big integers slow. */
const MAX_LENGTH = 256;
const MAX_EXPONENT = 128;

function interpret(suffix: string): { format: QuantityFormat; exponent: number } {
  if (Object.hasOwn(DECIMAL_SUFFIXES, suffix)) return { format: 'DecimalSI', exponent: DECIMAL_SUFFIXES[suffix] };
  if (Object.hasOwn(BINARY_SUFFIXES, suffix)) return { format: 'BinarySI', exponent: BINARY_SUFFIXES[suffix] };
  const exponent = /^[eE][-+]?\d+$/.test(suffix) ? Number(suffix.slice(1)) : NaN;
  if (!(exponent <= MAX_EXPONENT)) throw new QuantityError(SUFFIX_ERROR);
  return { format: 'DecimalExponent', exponent: Math.max(exponent, -MAX_LENGTH * 2) };
}

function divideUp(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor;
}

/** Whether upstream reads the amount into 64 bits; what is larger goes another way, with small differences. */
function isSmall(digits: string, fraction: string, format: QuantityFormat, exponent: number): boolean {
  if (format === 'BinarySI') return fraction === '' && 14 - digits.length - Math.floor((exponent * 3) / 10) >= 0;
  return digits.length + fraction.length <= 18 && exponent - fraction.length >= -9;
}

/** Whether upstream keeps the text as it was written instead of printing the amount anew. */
function keepsText(digits: string, fraction: string, format: QuantityFormat, exponent: number): boolean {
  if (!isSmall(digits, fraction, format, exponent)) return false;
  if (format === 'BinarySI') return (BigInt(digits) & 7n) !== 0n;
  const shifted = digits + fraction;
  return (exponent - fraction.length) % 3 === 0 && !shifted.endsWith('000') && shifted[0] !== '0';
}

export class Quantity {
  /** The amount in billionths. */
  readonly nano: bigint;
  readonly format: QuantityFormat;
  #text: string | undefined;

  constructor(nano: bigint, format: QuantityFormat, text?: string) {
    this.nano = nano;
    this.format = format;
    this.#text = text;
  }

  static readonly zero = new Quantity(0n, 'DecimalSI', '0');

  static of(value: number, format: QuantityFormat = 'DecimalSI'): Quantity {
    return new Quantity(BigInt(value) * NANO, format);
  }

  static ofMilli(value: number, format: QuantityFormat = 'DecimalSI'): Quantity {
    return new Quantity(BigInt(value) * 1_000_000n, format);
  }

  /** @throws QuantityError in Kubernetes' words. */
  static parse(text: string | number): Quantity {
    const trimmed = String(text).trim();
    if (trimmed === '0') return Quantity.zero;
    if (trimmed.length > MAX_LENGTH) throw new QuantityError(NUMERIC_ERROR);
    const match = trimmed === '' ? null : SHAPE.exec(trimmed);
    if (!match) throw new QuantityError(QUANTITY_FORMAT_ERROR);
    const digits = match[2].replace(/^0+/, '') || '0';
    const fraction = match[3] ?? '';
    const { format, exponent } = interpret(match[4]);
    if (match[2] === '' && fraction === '' && !isSmall(digits, fraction, format, exponent)) throw new QuantityError(NUMERIC_ERROR);
    const unscaled = BigInt(digits + fraction);
    const [nano, kept] =
      format === 'BinarySI' ? binaryNano(unscaled, fraction.length, exponent) : [decimalNano(unscaled, exponent - fraction.length), format];
    const signed = match[1] === '-' ? -nano : nano;
    return new Quantity(signed, kept, keepsText(digits, fraction, format, exponent) ? trimmed : undefined);
  }

  toString(): string {
    this.#text ??= print(this.nano, this.format);
    return this.#text;
  }

  toJSON(): string {
    return this.toString();
  }

  compare(other: Quantity): -1 | 0 | 1 {
    return this.nano < other.nano ? -1 : this.nano > other.nano ? 1 : 0;
  }

  add(other: Quantity): Quantity {
    return new Quantity(this.nano + other.nano, this.nano === 0n ? other.format : this.format);
  }

  sub(other: Quantity): Quantity {
    return new Quantity(this.nano - other.nano, this.nano === 0n ? other.format : this.format);
  }

  multiply(factor: number): Quantity {
    return new Quantity(this.nano * BigInt(factor), this.format);
  }

  negate(): Quantity {
    return new Quantity(-this.nano, this.format);
  }

  get sign(): -1 | 0 | 1 {
    return this.nano < 0n ? -1 : this.nano > 0n ? 1 : 0;
  }

  /** Whole units, fractions rounded away from zero. */
  value(): number {
    return Number(roundAway(this.nano, NANO));
  }

  milliValue(): number {
    return Number(roundAway(this.nano, 1_000_000n));
  }
}

function roundAway(value: bigint, unit: bigint): bigint {
  return value < 0n ? -divideUp(-value, unit) : divideUp(value, unit);
}

function decimalNano(unscaled: bigint, scale: number): bigint {
  return scale >= -9 ? unscaled * 10n ** BigInt(scale + 9) : divideUp(unscaled, 10n ** BigInt(-9 - scale));
}

/** Capped at what fits 64 bits; below one the amount is no longer written in binary. */
function binaryNano(unscaled: bigint, fractionDigits: number, exponent: number): [bigint, QuantityFormat] {
  const exact = decimalNano(unscaled << BigInt(exponent), -fractionDigits);
  const nano = exact > MAX_BINARY ? MAX_BINARY : exact;
  return [nano, nano > 0n && nano < NANO ? 'DecimalSI' : 'BinarySI'];
}

function print(nano: bigint, format: QuantityFormat): string {
  if (nano === 0n) return '0';
  const size = nano < 0n ? -nano : nano;
  if (format === 'BinarySI' && size >= 1024n * NANO && size % NANO === 0n) return printBinary(nano / NANO);
  let mantissa = nano;
  let exponent = -9;
  while (mantissa % 1000n === 0n) {
    mantissa /= 1000n;
    exponent += 3;
  }
  const suffix = format === 'DecimalExponent' ? undefined : DECIMAL_NAMES.get(exponent);
  if (suffix !== undefined) return `${mantissa}${suffix}`;
  return exponent === 0 ? String(mantissa) : `${mantissa}e${exponent}`;
}

function printBinary(value: bigint): string {
  let mantissa = value;
  let steps = 0;
  while (mantissa % 1024n === 0n && steps < BINARY_NAMES.length - 1) {
    mantissa /= 1024n;
    steps++;
  }
  return `${mantissa}${BINARY_NAMES[steps]}`;
}

/** How the API stores what was written. Does not touch text that is canonical already. @throws QuantityError */
export function canonicalQuantity(text: string | number): string {
  return typeof text === 'string' && CANONICAL.test(text) ? text : Quantity.parse(text).toString();
}
