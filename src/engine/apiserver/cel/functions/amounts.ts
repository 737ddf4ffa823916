import { Quantity } from '../../../../kube/quantity.ts';
import { CelOpaque, Fault, NO_SUCH_OVERLOAD, type CelValue } from '../values.ts';
import { onString, type CelFunction, type FunctionTable } from './function-table.ts';
import { compareSemver, normalizeSemver, parseSemver, type Semver } from './semver.ts';

/** Kubernetes' quantity and semver libraries, which share the names of their comparisons. */
export class CelQuantity extends CelOpaque {
  readonly typeName = 'kubernetes.Quantity';
  readonly amount: Quantity;

  constructor(amount: Quantity) {
    super();
    this.amount = amount;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelQuantity && this.amount.compare(other.amount) === 0;
  }
}

export class CelSemver extends CelOpaque {
  readonly typeName = 'kubernetes.Semver';
  readonly version: Semver;

  constructor(version: Semver) {
    super();
    this.version = version;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelSemver && compareSemver(this.version, other.version) === 0;
  }
}

const NANO = 1_000_000_000n;
const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;

function toQuantity(text: string): CelQuantity | Fault {
  try {
    // ParseQuantity does not trim, unlike the reading of a field.
    if (text.trim() !== text) return new Fault(quantityComplaint('x'));
    return new CelQuantity(Quantity.parse(text));
  } catch (error) {
    return new Fault((error as Error).message);
  }
}

function quantityComplaint(text: string): string {
  try {
    Quantity.parse(text);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

function wholeUnits({ nano }: Quantity): bigint | undefined {
  const whole = nano / NANO;
  return nano % NANO === 0n && whole >= MIN_INT && whole <= MAX_INT ? whole : undefined;
}

function onQuantity(apply: (amount: Quantity, other: CelValue) => CelValue): CelFunction {
  return ([value, other]) => (value instanceof CelQuantity ? apply(value.amount, other) : NO_SUCH_OVERLOAD);
}

function operand(value: CelValue): Quantity | undefined {
  if (value instanceof CelQuantity) return value.amount;
  return typeof value === 'bigint' ? new Quantity(value * NANO, 'DecimalExponent') : undefined;
}

function compared(accept: (order: number) => CelValue): CelFunction {
  return ([left, right]) => {
    if (left instanceof CelQuantity && right instanceof CelQuantity) return accept(left.amount.compare(right.amount));
    if (left instanceof CelSemver && right instanceof CelSemver) return accept(compareSemver(left.version, right.version));
    return NO_SUCH_OVERLOAD;
  };
}

function combined(apply: (left: Quantity, right: Quantity) => Quantity): CelFunction {
  return onQuantity((amount, other) => {
    const right = operand(other);
    return right === undefined ? NO_SUCH_OVERLOAD : new CelQuantity(apply(amount, right));
  });
}

function toSemver([text, normalize]: CelValue[]): CelSemver | Fault {
  if (typeof text !== 'string') return NO_SUCH_OVERLOAD;
  try {
    return new CelSemver(parseSemver(normalize === true ? normalizeSemver(text) : text));
  } catch (error) {
    return new Fault((error as Error).message);
  }
}

function semverPart(read: (version: Semver) => bigint): CelFunction {
  return ([value]) => (value instanceof CelSemver ? read(value.version) : NO_SUCH_OVERLOAD);
}

export const AMOUNTS: FunctionTable = {
  quantity: onString(toQuantity),
  isQuantity: onString((text) => toQuantity(text) instanceof CelQuantity),
  sign: onQuantity((amount) => BigInt(amount.sign)),
  isInteger: onQuantity((amount) => wholeUnits(amount) !== undefined),
  asInteger: onQuantity((amount) => wholeUnits(amount) ?? new Fault('cannot convert value to integer')),
  asApproximateFloat: onQuantity((amount) => Number(amount.nano) / 1e9),
  add: combined((left, right) => left.add(right)),
  sub: combined((left, right) => left.sub(right)),
  isGreaterThan: compared((order) => order > 0),
  isLessThan: compared((order) => order < 0),
  compareTo: compared((order) => BigInt(order)),
  semver: toSemver,
  isSemver: (args) => (typeof args[0] === 'string' ? toSemver(args) instanceof CelSemver : NO_SUCH_OVERLOAD),
  major: semverPart((version) => version.major),
  minor: semverPart((version) => version.minor),
  patch: semverPart((version) => version.patch),
};
