import { quote } from './go-text.ts';

/** Fields such as `maxSurge` and `targetPort`, which hold a number, a percentage or a name. */
export type IntOrString = number | string;

export function isPercentage(value: IntOrString): boolean {
  return typeof value === 'string' && /^[0-9]+%$/.test(value);
}

/** The number itself, or a percentage of `total`. @throws Error in Kubernetes' words when it is neither */
export function scaledValue(value: IntOrString, total: number, rounding: 'up' | 'down'): number {
  if (typeof value === 'number') return value;
  if (!value.endsWith('%')) throw new Error('invalid value for IntOrString: invalid type: string is not a percentage');
  const digits = value.slice(0, -1);
  if (!/^[+-]?\d+$/.test(digits)) {
    throw new Error(`invalid value for IntOrString: invalid value ${quote(value)}: strconv.Atoi: parsing ${quote(digits)}: invalid syntax`);
  }
  const exact = (Number(digits) * total) / 100;
  return rounding === 'up' ? Math.ceil(exact) : Math.floor(exact);
}
