import type { Json } from '../../../kube/object.ts';
import { marshal } from '../../../kube/go-text.ts';
import { runToEnd, type Sliced } from '../schema/slices.ts';

/** The difference of two objects as kube-apiserver prints it: a unified diff of their indented JSON. */
interface Operation {
  kind: 'equal' | 'change';
  aStart: number;
  aEnd: number;
  bStart: number;
  bEnd: number;
}

const CONTEXT = 3;
/** Line pairs looked at before giving up on the shortest diff: a message is not worth a stalled server. */
const BUDGET = 100_000;
const MAX_DEPTH = 1000;

function lines(value: Json): string[] {
  return marshalIndent(value).split('\n');
}

function marshalIndent(value: Json): string {
  return JSON.stringify(value, undefined, 1).replace(/[<>&\u2028\u2029]/g, (c) => marshal(c).slice(1, -1));
}

export function objectDiff(before: Json, after: Json): string {
  return runToEnd(objectDiffSteps(before, after));
}

/** The same with pauses, for large objects. */
export function* objectDiffSteps(before: Json, after: Json): Sliced<string> {
  const a = lines(before);
  yield;
  const b = lines(after);
  yield;
  const matcher = new Matcher(a, b);
  yield;
  const found = operations(matcher, a, b);
  yield;
  let text = '';
  for (const group of groups(found)) text += hunk(group, a, b);
  return text;
}

/** Positions of each line in b. Lines that make up more than a hundredth of a long text say nothing about where we are. */
function positions(b: string[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  b.forEach((line, j) => {
    const known = found.get(line);
    if (known === undefined) found.set(line, [j]);
    else known.push(j);
  });
  if (b.length < 200) return found;
  const limit = Math.floor(b.length / 100) + 1;
  for (const [line, at] of found) if (at.length > limit) found.delete(line);
  return found;
}

interface Match {
  a: number;
  b: number;
  size: number;
}

class Matcher {
  private readonly a: string[];
  private readonly b: string[];
  private readonly inB: Map<string, number[]>;
  private steps = 0;
  readonly matches: Match[] = [];

  constructor(a: string[], b: string[]) {
    this.a = a;
    this.b = b;
    this.inB = positions(b);
  }

  /** @returns false when it got too expensive. */
  match(aLow: number, aHigh: number, bLow: number, bHigh: number, depth = 0): boolean {
    const best = this.longest(aLow, aHigh, bLow, bHigh);
    if (this.steps > BUDGET || depth > MAX_DEPTH) return false;
    if (best.size === 0) return true;
    if (aLow < best.a && bLow < best.b && !this.match(aLow, best.a, bLow, best.b, depth + 1)) return false;
    this.matches.push(best);
    const [a, b] = [best.a + best.size, best.b + best.size];
    return a >= aHigh || b >= bHigh || this.match(a, aHigh, b, bHigh, depth + 1);
  }

  private longest(aLow: number, aHigh: number, bLow: number, bHigh: number): Match {
    const best = { a: aLow, b: bLow, size: 0 };
    let lengths = new Map<number, number>();
    for (let i = aLow; i < aHigh && this.steps <= BUDGET; i++) {
      const next = new Map<number, number>();
      for (const j of this.inB.get(this.a[i]) ?? []) {
        this.steps++;
        if (j < bLow) continue;
        if (j >= bHigh) break;
        const size = (lengths.get(j - 1) ?? 0) + 1;
        next.set(j, size);
        if (size > best.size) Object.assign(best, { a: i - size + 1, b: j - size + 1, size });
      }
      lengths = next;
    }
    while (best.a > aLow && best.b > bLow && this.a[best.a - 1] === this.b[best.b - 1]) {
      best.a--;
      best.b--;
      best.size++;
    }
    while (best.a + best.size < aHigh && best.b + best.size < bHigh && this.a[best.a + best.size] === this.b[best.b + best.size])
      best.size++;
    return best;
  }
}

/** Everything between the common start and the common end, as one change. */
function coarseMatches(a: string[], b: string[]): Match[] {
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return [
    { a: 0, b: 0, size: head },
    { a: a.length - tail, b: b.length - tail, size: tail },
  ];
}

function operations(matcher: Matcher, a: string[], b: string[]): Operation[] {
  const matches = matcher.match(0, a.length, 0, b.length) ? matcher.matches : coarseMatches(a, b);
  const found: Operation[] = [];
  let [i, j] = [0, 0];
  for (const { a: ai, b: bj, size } of [...matches, { a: a.length, b: b.length, size: 0 }]) {
    if (i < ai || j < bj) found.push({ kind: 'change', aStart: i, aEnd: ai, bStart: j, bEnd: bj });
    [i, j] = [ai + size, bj + size];
    if (size === 0) continue;
    const last = found.at(-1);
    if (last?.kind === 'equal' && last.aEnd === ai && last.bEnd === bj) Object.assign(last, { aEnd: i, bEnd: j });
    else found.push({ kind: 'equal', aStart: ai, aEnd: i, bStart: bj, bEnd: j });
  }
  return found;
}

function head(o: Operation): Operation {
  return { ...o, aEnd: Math.min(o.aEnd, o.aStart + CONTEXT), bEnd: Math.min(o.bEnd, o.bStart + CONTEXT) };
}

function tail(o: Operation): Operation {
  return { ...o, aStart: Math.max(o.aStart, o.aEnd - CONTEXT), bStart: Math.max(o.bStart, o.bEnd - CONTEXT) };
}

/** Changes with up to three lines around them; changes close to each other share a group. */
function groups(all: Operation[]): Operation[][] {
  if (all.length === 0) return [];
  if (all[0].kind === 'equal') all[0] = tail(all[0]);
  const last = all.length - 1;
  if (all[last].kind === 'equal') all[last] = head(all[last]);
  const found: Operation[][] = [];
  let group: Operation[] = [];
  for (const operation of all) {
    if (operation.kind === 'equal' && operation.aEnd - operation.aStart > 2 * CONTEXT) {
      found.push([...group, head(operation)]);
      group = [tail(operation)];
    } else group.push(operation);
  }
  if (group.length > 1 || group[0]?.kind === 'change') found.push(group);
  return found;
}

function range(start: number, end: number): string {
  const length = end - start;
  if (length === 1) return `${start + 1}`;
  return `${length === 0 ? start : start + 1},${length}`;
}

function hunk(group: Operation[], a: string[], b: string[]): string {
  const [first, last] = [group[0], group[group.length - 1]];
  let text = `@@ -${range(first.aStart, last.aEnd)} +${range(first.bStart, last.bEnd)} @@\n`;
  for (const { kind, aStart, aEnd, bStart, bEnd } of group) {
    for (let i = aStart; i < aEnd; i++) text += `${kind === 'equal' ? ' ' : '-'}${a[i]}\n`;
    if (kind === 'change') for (let j = bStart; j < bEnd; j++) text += `+${b[j]}\n`;
  }
  return text;
}
