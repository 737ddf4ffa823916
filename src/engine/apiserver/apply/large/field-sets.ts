import { isHeavy, Steps, type Sliced } from '../../../../kube/json-slices.ts';
import * as plain from '../field-set.ts';
import { LEAF, type FieldSet } from '../field-set.ts';
import { canonicalElement, compareElements } from '../path-element.ts';

/** The operations of field-set.ts for sets of thousands of fields, with pauses. Small parts are left to the plain ones. */
type Draft = Record<string, FieldSet>;

const SELF = '.';
const PAUSE = 256;
/** Sorted at once: comparing two steps may mean to read both. */
const RUN = 64;

export function* inOrder(level: FieldSet): Sliced<FieldSet> {
  let previous = '';
  let count = 0;
  let ordered = true;
  for (const element in level) {
    if (++count % PAUSE === 0) yield;
    if (element === SELF) continue;
    if (previous !== '' && !plain.follows(previous, element)) {
      ordered = false;
      break;
    }
    previous = element;
  }
  if (ordered) return level;
  const elements = yield* sorted(Object.keys(level));
  const result: Draft = {};
  for (let i = 0; i < elements.length; i++) {
    result[elements[i]] = level[elements[i]];
    if (i % PAUSE === 0) yield;
  }
  return result;
}

function order(a: string, b: string): number {
  return a === SELF ? -1 : b === SELF ? 1 : compareElements(a, b);
}

/** A merge sort: runs are sorted at once, then merged two by two. */
function* sorted(elements: string[]): Sliced<string[]> {
  let from: string[] = [];
  for (let start = 0; start < elements.length; start += RUN) {
    from.push(...elements.slice(start, start + RUN).sort(order));
    yield;
  }
  for (let width = RUN; width < elements.length; width *= 2) {
    const to: string[] = [];
    for (let start = 0; start < from.length; start += 2 * width) yield* mergeRuns(from, start, width, to);
    from = to;
  }
  return from;
}

function* mergeRuns(from: string[], start: number, width: number, to: string[]): Sliced<void> {
  const middle = Math.min(start + width, from.length);
  const end = Math.min(start + 2 * width, from.length);
  let left = start;
  let right = middle;
  while (left < middle || right < end) {
    const takesLeft = right >= end || (left < middle && order(from[left], from[right]) <= 0);
    to.push(takesLeft ? from[left++] : from[right++]);
    if (to.length % PAUSE === 0) yield;
  }
}

/** What is below a step, without the step itself. */
export function* childrenOf(node: FieldSet): Sliced<FieldSet | undefined> {
  if (node[SELF] === undefined) return plain.isEmptySet(node) ? undefined : node;
  const children: Draft = {};
  let count = 0;
  for (const element in node) {
    if (element === SELF) continue;
    children[element] = node[element];
    if (++count % PAUSE === 0) yield;
  }
  return count > 0 ? children : undefined;
}

export function* nodeOf(member: boolean, children: FieldSet | undefined): Sliced<FieldSet | undefined> {
  if (!member || children === undefined || children[SELF] !== undefined) return plain.nodeOf(member, children);
  const node: Draft = { [SELF]: LEAF };
  let count = 0;
  for (const element in children) {
    node[element] = children[element];
    if (++count % PAUSE === 0) yield;
  }
  return node;
}

export function* union(a: FieldSet | undefined, b: FieldSet | undefined): Sliced<FieldSet | undefined> {
  if (a === undefined || b === undefined || !(isHeavy(a) || isHeavy(b))) return plain.union(a, b);
  return a === b ? a : yield* unionLevels(a, b, false);
}

function* unionLevels(a: FieldSet, b: FieldSet, member: boolean): Sliced<FieldSet> {
  const result: Draft = member ? { [SELF]: LEAF } : {};
  const steps = new Steps();
  let added = false;
  for (const element in a) {
    if (element === SELF) continue;
    const [mine, other] = [a[element], b[element]];
    if (steps.due(mine)) yield;
    if (other === undefined) result[element] = mine;
    else result[element] = steps.heavy || isHeavy(other) ? yield* unionNodes(mine, other) : plain.unionNodes(mine, other);
  }
  for (const element in b) {
    if (element === SELF || a[element] !== undefined) continue;
    if (steps.due(LEAF)) yield;
    result[element] = b[element];
    added = true;
  }
  return added ? yield* inOrder(result) : result;
}

function* unionNodes(a: FieldSet, b: FieldSet): Sliced<FieldSet> {
  if (a === b || plain.isEmptySet(b)) return plain.isMember(a) ? a : (yield* nodeOf(true, a))!;
  if (plain.isEmptySet(a)) return plain.isMember(b) ? b : (yield* nodeOf(true, b))!;
  return yield* unionLevels(a, b, plain.isMember(a) || plain.isMember(b));
}

/** `a` without the members of `b`. What is below a removed member stays: only equal paths are removed. */
export function* difference(a: FieldSet | undefined, b: FieldSet | undefined): Sliced<FieldSet | undefined> {
  if (!isHeavy(a) && !isHeavy(b)) return plain.difference(a, b);
  if (a === undefined || b === undefined || !(yield* intersects(a, b))) return a;
  return yield* differenceLevels(a, b, false);
}

function* differenceLevels(a: FieldSet, b: FieldSet, member: boolean): Sliced<FieldSet | undefined> {
  const result: Draft = member ? { [SELF]: LEAF } : {};
  const steps = new Steps();
  let found = false;
  for (const element in a) {
    if (element === SELF) continue;
    const [mine, other] = [a[element], b[element]];
    if (steps.due(mine)) yield;
    let node: FieldSet | undefined = mine;
    if (other !== undefined)
      node = steps.heavy || isHeavy(other) ? yield* differenceNodes(mine, other) : plain.differenceNodes(mine, other);
    if (node === undefined) continue;
    result[element] = node;
    found = true;
  }
  return found ? result : member ? LEAF : undefined;
}

function* differenceNodes(a: FieldSet, b: FieldSet): Sliced<FieldSet | undefined> {
  const loses = plain.isMember(a) && plain.isMember(b);
  if (!loses && !(yield* intersects(a, b))) return a;
  if (plain.isEmptySet(a)) return loses ? undefined : a;
  return yield* differenceLevels(a, b, plain.isMember(a) && !loses);
}

export function* intersection(a: FieldSet | undefined, b: FieldSet | undefined): Sliced<FieldSet | undefined> {
  if (!isHeavy(a)) return plain.intersection(a, b);
  return a === undefined || b === undefined ? undefined : yield* intersectionLevels(a, b, false);
}

function* intersectionLevels(a: FieldSet, b: FieldSet, member: boolean): Sliced<FieldSet | undefined> {
  const result: Draft = member ? { [SELF]: LEAF } : {};
  const steps = new Steps();
  let found = false;
  for (const element in a) {
    const [mine, other] = [a[element], b[element]];
    if (element === SELF || other === undefined) continue;
    if (steps.due(mine)) yield;
    const both = plain.isMember(mine) && plain.isMember(other);
    const node = steps.heavy ? yield* intersectionLevels(mine, other, both) : plain.intersectionLevels(mine, other, both);
    if (node === undefined) continue;
    result[element] = node;
    found = true;
  }
  return found ? result : member ? LEAF : undefined;
}

export function* intersects(a: FieldSet, b: FieldSet): Sliced<boolean> {
  const steps = new Steps();
  for (const element in b) {
    const [mine, other] = [a[element], b[element]];
    if (mine === undefined || element === SELF) continue;
    if (steps.due(other)) yield;
    if (plain.isMember(mine) && plain.isMember(other)) return true;
    if (steps.heavy ? yield* intersects(mine, other) : plain.intersects(mine, other)) return true;
  }
  return false;
}

/** Whether every path of `b` is in `a`. */
export function* covers(a: FieldSet, b: FieldSet): Sliced<boolean> {
  const steps = new Steps();
  for (const element in b) {
    if (element === SELF) continue;
    const [mine, other] = [a[element], b[element]];
    if (mine === undefined) return false;
    if (steps.due(other)) yield;
    if (plain.isMember(other) && !plain.isMember(mine)) return false;
    if (!(steps.heavy ? yield* covers(mine, other) : plain.covers(mine, other))) return false;
  }
  return true;
}

/** @throws Error when it is not a set of fields */
export function* readFieldSet(value: unknown): Sliced<FieldSet | undefined> {
  if (!isHeavy(value)) return plain.readFieldSet(value);
  const node = yield* readNode(value, 0);
  return node === LEAF ? undefined : yield* childrenOf(node);
}

function* readNode(value: unknown, depth: number): Sliced<FieldSet> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return plain.readNode(value, depth);
  const children: Draft = {};
  const steps = new Steps();
  let member = false;
  for (const [key, below] of Object.entries(value as Record<string, unknown>)) {
    if (steps.due(below)) yield;
    if (key === SELF) {
      member = true;
      continue;
    }
    const element = canonicalElement(key);
    if (element !== undefined) children[element] = steps.heavy ? yield* readNode(below, depth + 1) : plain.readNode(below, depth + 1);
  }
  return plain.isEmptySet(children) ? LEAF : (yield* nodeOf(member, yield* inOrder(children)))!;
}
