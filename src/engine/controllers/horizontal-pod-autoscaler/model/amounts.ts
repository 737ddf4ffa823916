import { Quantity } from '../../../../kube/quantity.ts';

const MAX_INT64 = (1n << 63n) - 1n;

/** Thousandths as a quantity; memory is written in the notation it has everywhere else. */
export function milliQuantity(amount: number, resource = ''): string {
  const exact = amount >= Number(MAX_INT64) ? MAX_INT64 : BigInt(Math.trunc(amount));
  return new Quantity(exact * 1_000_000n, resource === 'memory' ? 'BinarySI' : 'DecimalSI').toString();
}

export function milliOf(quantity: string | number): number {
  return Quantity.parse(quantity).milliValue();
}
