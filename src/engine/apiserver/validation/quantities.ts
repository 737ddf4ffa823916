import type { Findings } from './findings.ts';
import { isExtendedResource } from './resource-names.ts';
import type { Path } from './path.ts';

/** Amounts as decode leaves them (`500m`, `1Gi`), compared exactly in billionths. */
const NANO = 1_000_000_000n;
const SCALES: Record<string, bigint> = {
  n: 1n,
  u: 1_000n,
  m: 1_000_000n,
  '': NANO,
  k: NANO * 1_000n,
  M: NANO * 1_000_000n,
  G: NANO * 1_000_000_000n,
  T: NANO * 1_000_000_000_000n,
  P: NANO * 1_000_000_000_000_000n,
  E: NANO * 1_000_000_000_000_000_000n,
  Ki: NANO << 10n,
  Mi: NANO << 20n,
  Gi: NANO << 30n,
  Ti: NANO << 40n,
  Pi: NANO << 50n,
  Ei: NANO << 60n,
};
const PATTERN = /^([+-]?)(\d*)(?:\.(\d*))?(?:([numkMGTPE]|[KMGTPE]i)?|[eE]([+-]?\d+))$/;

function scaleOf(suffix: string | undefined, exponent: string | undefined): { scale: bigint; divisor: bigint } {
  if (exponent === undefined) return { scale: SCALES[suffix ?? ''], divisor: 1n };
  const power = Number(exponent);
  return power >= 0 ? { scale: NANO * 10n ** BigInt(power), divisor: 1n } : { scale: NANO, divisor: 10n ** BigInt(-power) };
}

/** Billionths, rounded away from zero; undefined for what is not a quantity. */
export function nanos(text: string): bigint | undefined {
  const match = PATTERN.exec(text);
  if (match === null || (match[2] === '' && !match[3])) return undefined;
  const fraction = match[3] ?? '';
  const { scale, divisor } = scaleOf(match[4], match[5]);
  const below = divisor * 10n ** BigInt(fraction.length);
  const units = BigInt(match[2] + fraction) * scale;
  const rounded = (units + below - 1n) / below;
  return match[1] === '-' ? -rounded : rounded;
}

export function compareQuantities(a: string, b: string): number {
  if (a === b) return 0;
  const difference = (nanos(a) ?? 0n) - (nanos(b) ?? 0n);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

export function sameQuantity(a: string, b: string): boolean {
  return compareQuantities(a, b) === 0;
}

export function isNegative(quantity: string): boolean {
  return quantity.startsWith('-') && (nanos(quantity) ?? 0n) < 0n;
}

export function isPositive(quantity: string): boolean {
  return (nanos(quantity) ?? 0n) > 0n;
}

function roundAwayFromZero(value: bigint, unit: bigint): bigint {
  return value >= 0n ? (value + unit - 1n) / unit : -((-value + unit - 1n) / unit);
}

/** Quantity.Value(): whole units, rounded away from zero. */
export function wholeValue(quantity: string): bigint {
  return roundAwayFromZero(nanos(quantity) ?? 0n, NANO);
}

export function milliValue(quantity: string): bigint {
  return roundAwayFromZero(nanos(quantity) ?? 0n, 1_000_000n);
}

export const NOT_NEGATIVE = 'must be greater than or equal to 0';
export const NOT_POSITIVE = 'must be greater than zero';

export function checkNonnegativeQuantity(out: Findings, quantity: string, at: Path): void {
  if (isNegative(quantity)) out.invalid(at, quantity, NOT_NEGATIVE);
}

export function checkPositiveQuantity(out: Findings, quantity: string, at: Path): void {
  if (!isPositive(quantity)) out.invalid(at, quantity, NOT_POSITIVE);
}

const INTEGER_RESOURCES = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);

/** Of a resource: not negative, and whole where half of one makes no sense. */
export function checkResourceQuantity(out: Findings, resource: string, quantity: string, at: Path): void {
  checkNonnegativeQuantity(out, quantity, at);
  if (resource === 'cpu' || resource === 'memory') return;
  if (!INTEGER_RESOURCES.has(resource) && !isExtendedResource(resource)) return;
  if (milliValue(quantity) % 1000n !== 0n) out.invalid(at, quantity, 'must be an integer');
}

/** Quantities that only must not be negative as a whole number. */
export function checkBasicQuantity(out: Findings, quantity: string, at: Path): void {
  const value = wholeValue(quantity);
  if (value < 0n) out.invalid(at, Number(value), 'must be a valid resource quantity');
}
