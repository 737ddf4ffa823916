import { canonicalElement, compareElements } from './path-element.ts';

/**
 * A set of fields in the very form of FieldsV1, so that what is stored is worked with as it is: an object per level, its keys are
 * steps. A step whose object is empty, or holds ".", is itself in the set; the other keys are what is below it.
 * Sets are shared and never changed once made; keys are in canonical order.
 */
export interface FieldSet {
  readonly [element: string]: FieldSet;
}

type Draft = Record<string, FieldSet>;

/** A step that is in the set with nothing below it. */
export const LEAF: FieldSet = Object.freeze({});
const SELF = '.';

function hasKeys(set: FieldSet): boolean {
  for (const _ in set) return true;
  return false;
}

export function isMember(node: FieldSet | undefined): boolean {
  return node !== undefined && (node === LEAF || node[SELF] !== undefined || !hasKeys(node));
}

/** Whether nothing is in the set. A root holds no "." of its own, so it is empty when it has no steps. */
export function isEmptySet(set: FieldSet | undefined): boolean {
  return set === undefined || !hasKeys(set);
}

/** What is below a step, without the step itself. */
export function childrenOf(node: FieldSet): FieldSet | undefined {
  if (node[SELF] === undefined) return hasKeys(node) ? node : undefined;
  const children: Draft = {};
  let found = false;
  for (const element in node) {
    if (element === SELF) continue;
    children[element] = node[element];
    found = true;
  }
  return found ? children : undefined;
}

/** The object of a step from its two halves; undefined when neither is there. */
export function nodeOf(member: boolean, children: FieldSet | undefined): FieldSet | undefined {
  if (children === undefined || !hasKeys(children)) return member ? LEAF : undefined;
  return member ? { [SELF]: LEAF, ...children } : children;
}

/** Puts the steps of one level in canonical order; gives the same object back when they are. */
export function inOrder(level: FieldSet): FieldSet {
  let previous = '';
  for (const element in level) {
    if (element === SELF) continue;
    if (previous !== '' && !follows(previous, element)) return sorted(level);
    previous = element;
  }
  return level;
}

export function follows(previous: string, next: string): boolean {
  // Both fields: the common case, decided without a call.
  if (previous.charCodeAt(0) === 102 && next.charCodeAt(0) === 102) return previous < next;
  return compareElements(previous, next) < 0;
}

function sorted(level: FieldSet): FieldSet {
  const elements = Object.keys(level);
  const onlyFields = elements.every((element) => element === SELF || element.charCodeAt(0) === 102);
  // "." sorts before letters, and among fields the plain order of text is the canonical one.
  if (onlyFields) elements.sort();
  else elements.sort((a, b) => (a === SELF ? -1 : b === SELF ? 1 : compareElements(a, b)));
  const result: Draft = {};
  for (const element of elements) result[element] = level[element];
  return result;
}

export function union(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (a === undefined || a === b) return b;
  return b === undefined ? a : unionLevels(a, b, false);
}

function unionLevels(a: FieldSet, b: FieldSet, member: boolean): FieldSet {
  const result: Draft = member ? { [SELF]: LEAF } : {};
  let added = false;
  for (const element in a) {
    if (element === SELF) continue;
    const other = b[element];
    result[element] = other === undefined ? a[element] : unionNodes(a[element], other);
  }
  for (const element in b) {
    if (element === SELF || a[element] !== undefined) continue;
    result[element] = b[element];
    added = true;
  }
  return added ? inOrder(result) : result;
}

export function unionNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || !hasKeys(b)) return isMember(a) ? a : { [SELF]: LEAF, ...a };
  if (!hasKeys(a)) return isMember(b) ? b : { [SELF]: LEAF, ...b };
  return unionLevels(a, b, isMember(a) || isMember(b));
}

/** `a` without the members of `b`. What is below a removed member stays: only equal paths are removed. */
export function difference(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  return a === undefined || b === undefined || !intersects(a, b) ? a : differenceLevels(a, b, false);
}

function differenceLevels(a: FieldSet, b: FieldSet, member: boolean): FieldSet | undefined {
  const result: Draft = member ? { [SELF]: LEAF } : {};
  let found = false;
  for (const element in a) {
    if (element === SELF) continue;
    const other = b[element];
    const node = other === undefined ? a[element] : differenceNodes(a[element], other);
    if (node === undefined) continue;
    result[element] = node;
    found = true;
  }
  return found ? result : member ? LEAF : undefined;
}

export function differenceNodes(a: FieldSet, b: FieldSet): FieldSet | undefined {
  const loses = isMember(a) && isMember(b);
  if (!loses && !intersects(a, b)) return a;
  return hasKeys(a) ? differenceLevels(a, b, isMember(a) && !loses) : loses ? undefined : a;
}

export function intersection(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  return a === undefined || b === undefined ? undefined : intersectionLevels(a, b, false);
}

export function intersectionLevels(a: FieldSet, b: FieldSet, member: boolean): FieldSet | undefined {
  const result: Draft = member ? { [SELF]: LEAF } : {};
  let found = false;
  for (const element in a) {
    const other = b[element];
    if (element === SELF || other === undefined) continue;
    const node = intersectionLevels(a[element], other, isMember(a[element]) && isMember(other));
    if (node === undefined) continue;
    result[element] = node;
    found = true;
  }
  return found ? result : member ? LEAF : undefined;
}

/** Whether any path is in both; walks the smaller `b` and allocates nothing. */
export function intersects(a: FieldSet, b: FieldSet): boolean {
  for (const element in b) {
    const mine = a[element];
    if (mine === undefined || element === SELF) continue;
    const other = b[element];
    if (isMember(mine) && isMember(other)) return true;
    if (intersects(mine, other)) return true;
  }
  return false;
}

/** Whether every path of `b` is in `a`. */
export function covers(a: FieldSet, b: FieldSet): boolean {
  for (const element in b) {
    if (element === SELF) continue;
    const mine = a[element];
    if (mine === undefined) return false;
    const other = b[element];
    if (isMember(other) && !isMember(mine)) return false;
    if (!covers(mine, other)) return false;
  }
  return true;
}

/** Calls back with every path, those of a level before those below it. */
export function forEachPath(set: FieldSet | undefined, visit: (path: readonly string[]) => void, prefix: readonly string[] = []): void {
  for (const element in set) if (element !== SELF && isMember(set[element])) visit([...prefix, element]);
  for (const element in set) {
    if (element !== SELF) forEachPath(childrenOf(set[element]), visit, [...prefix, element]);
  }
}

/** Steps may nest this deep in what clients send; far more than any schema. */
const MAX_DEPTH = 500;

/**
 * Reads a set that a client sent: brings steps and their order to canonical form and skips kinds of steps that do not exist.
 * @throws Error when it is not a set of fields
 */
export function readFieldSet(value: unknown): FieldSet | undefined {
  const node = readNode(value, 0);
  return node === LEAF ? undefined : childrenOf(node);
}

export function readNode(value: unknown, depth: number): FieldSet {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('a set of fields must be an object');
  if (depth > MAX_DEPTH) throw new Error('a set of fields nests too deeply');
  const children: Draft = {};
  let member = false;
  for (const [key, below] of Object.entries(value)) {
    if (key === SELF) {
      member = true;
      continue;
    }
    const element = canonicalElement(key);
    if (element !== undefined) children[element] = readNode(below, depth + 1);
  }
  return hasKeys(children) ? nodeOf(member, inOrder(children))! : LEAF;
}
