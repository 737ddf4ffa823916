import { DYN, isDyn, listOf, mapOf, opaque, sameType, typeOf, typeText, type CelType } from './types.ts';

/** What type parameters stand for, by their written names. */
export interface Meanings {
  get(name: string): CelType | undefined;
}

/** What type parameters stand for so far. An attempt that fails leaves no trace. */
export class Substitutions implements Meanings {
  private readonly meanings = new Map<string, CelType>();
  private trail: { name: string; before: CelType | undefined }[] = [];

  get(name: string): CelType | undefined {
    return this.meanings.get(name);
  }

  set(name: string, type: CelType): void {
    this.trail.push({ name, before: this.meanings.get(name) });
    this.meanings.set(name, type);
  }

  /** Finds what parameters must stand for so that values of the types `left` fit where those of `right` are wanted. */
  assign(left: readonly CelType[], right: readonly CelType[]): boolean {
    this.trail = [];
    if (areAssignable(this, left, right)) return true;
    for (const { name, before } of this.trail.reverse()) {
      if (before === undefined) this.meanings.delete(name);
      else this.meanings.set(name, before);
    }
    return false;
  }
}

function areAssignable(mapping: Substitutions, left: readonly CelType[], right: readonly CelType[]): boolean {
  return left.length === right.length && left.every((type, at) => isAssignable(mapping, type, right[at]));
}

function isDynOrError(type: CelType): boolean {
  return type.kind === 'dyn' || type.kind === 'error';
}

const NULLABLE = new Set(['opaque', 'struct', 'duration', 'timestamp', 'null']);

function isAssignable(mapping: Substitutions, left: CelType, right: CelType): boolean {
  if (right.kind === 'param') {
    const { valid, known } = substitutes(mapping, left, right);
    if (valid) return true;
    if (known) return false;
  }
  if (left.kind === 'param') return substitutes(mapping, right, left).valid;
  if (isDynOrError(left) || isDynOrError(right)) return true;
  if (left.kind === 'null') return NULLABLE.has(right.kind);
  if (right.kind === 'null') return NULLABLE.has(left.kind);
  if (left.kind !== right.kind) return false;
  if (left.kind === 'type') return true;
  if (left.kind === 'struct') return left.name === right.name;
  return left.name === right.name && areAssignable(mapping, left.params, right.params);
}

/** Whether the parameter may stand for the type; remembers it if so. `known` tells that it already stood for something. */
function substitutes(mapping: Substitutions, type: CelType, param: CelType): { valid: boolean; known: boolean } {
  if (type.kind === param.kind && sameType(type, param)) return { valid: true, known: true };
  const name = typeText(param);
  const current = mapping.get(name);
  if (current === undefined) {
    if (!isFree(mapping, param, type)) return { valid: false, known: false };
    mapping.set(name, type);
    return { valid: true, known: false };
  }
  if (type.kind === current.kind && sameType(type, current)) return { valid: true, known: true };
  if (!isAssignable(mapping, type, current)) return { valid: false, known: true };
  const general = mostGeneral(type, current);
  if (isFree(mapping, param, general)) mapping.set(name, general);
  return { valid: true, known: true };
}

/** True when the parameter does not occur in the type, directly or by what stands for its parts. */
function isFree(mapping: Substitutions, param: CelType, within: CelType): boolean {
  if (sameType(param, within)) return false;
  if (within.kind === 'param') {
    const current = mapping.get(typeText(within));
    return current === undefined || isFree(mapping, param, current);
  }
  return within.params.every((part) => isFree(mapping, param, part));
}

export function mostGeneral(left: CelType, right: CelType): CelType {
  return isLessSpecific(left, right) ? left : right;
}

function isLessSpecific(left: CelType, right: CelType): boolean {
  if (isDyn(left) || left.kind === 'param') return true;
  if (isDyn(right) || right.kind === 'param' || left.kind !== right.kind) return false;
  if (left.kind === 'type') return true;
  if (left.params.length === 0) return sameType(left, right);
  if (left.name !== right.name || left.params.length !== right.params.length) return false;
  return left.params.every((param, at) => isLessSpecific(param, right.params[at]));
}

/** Replaces parameters by what they stand for; those that stand for nothing become dyn if asked. */
export function substitute(known: Meanings, type: CelType, freeToDyn: boolean): CelType {
  if (type.kind === 'param') {
    const current = known.get(typeText(type));
    if (current !== undefined) return substitute(known, current, freeToDyn);
    return freeToDyn ? DYN : type;
  }
  if (type.params.length === 0) return type;
  const params = type.params.map((param) => substitute(known, param, freeToDyn));
  if (type.kind === 'list') return listOf(params[0]);
  if (type.kind === 'map') return mapOf(params[0], params[1]);
  return type.kind === 'type' ? typeOf(params[0]) : opaque(type.name, params);
}

/** True when a type has more than so many parts: parts that occur in several places count in each. */
export function isLargerThan(known: Meanings, type: CelType, limit: number): boolean {
  let left = limit;
  const fits = (part: CelType): boolean => {
    if (--left < 0) return false;
    if (part.kind !== 'param') return part.params.every(fits);
    const current = known.get(typeText(part));
    return current === undefined || fits(current);
  };
  return !fits(type);
}
