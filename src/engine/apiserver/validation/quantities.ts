import { Quantity } from '../../../kube/quantity.ts';
import type { Findings } from './findings.ts';
import { isExtendedResource } from './resource-names.ts';
import type { Path } from './path.ts';

/** Amounts as decode leaves them (`500m`, `1Gi`), compared exactly in billionths. */
const NANO = 1_000_000_000n;

/** Billionths; undefined for what is not a quantity, which only names of resources can contain. */
export function nanos(text: string): bigint | undefined {
  try {
    return Quantity.parse(text).nano;
  } catch {
    return undefined;
  }
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
