import { quote } from '../../../../kube/go-text.ts';

/** Sets of indexes in the compressed form `1,3-5,7`. A string in place of a result is what is wrong with it. */
interface Interval {
  first: number;
  last: number;
}

function parseIndex(text: string, completions: number): number | string {
  if (!/^[+-]?\d+$/.test(text)) return `cannot convert string to integer for index: ${quote(text)}`;
  const index = Number(text);
  return index >= completions ? `too large index: ${quote(text)}` : index;
}

function parseInterval(text: string, completions: number): Interval | string {
  const limits = text.split('-');
  if (limits.length > 2) {
    const rule = "an index interval can have at most two parts separated by '-'";
    return `the fragment ${quote(text)} violates the requirement that ${rule}`;
  }
  const first = parseIndex(limits[0], completions);
  if (typeof first === 'string') return first;
  if (limits.length === 1) return { first, last: first };
  const last = parseIndex(limits[1], completions);
  if (typeof last === 'string') return last;
  return first >= last ? `non-increasing order, previous: ${first}, current: ${last}` : { first, last };
}

export function countIndexes(text: string, completions: number): number | string {
  if (text === '') return 0;
  let previous: number | undefined;
  let total = 0;
  for (const part of text.split(',')) {
    const interval = parseInterval(part, completions);
    if (typeof interval === 'string') return interval;
    if (previous !== undefined && previous >= interval.first) {
      return `non-increasing order, previous: ${previous}, current: ${interval.first}`;
    }
    total += interval.last - interval.first + 1;
    previous = interval.last;
  }
  return total;
}

/** The first index both sets have; intervals that cannot be read are passed over, they are reported elsewhere. */
export function overlap(a: string, b: string, completions: number): number | undefined {
  const read = (text: string): Interval[] =>
    text === ''
      ? []
      : text
          .split(',')
          .map((part) => parseInterval(part, completions))
          .filter((i) => typeof i !== 'string');
  const [left, right] = [read(a), read(b)];
  let [i, j] = [0, 0];
  while (i < left.length && j < right.length) {
    if (left[i].first <= right[j].last && right[j].first <= left[i].last) return Math.max(left[i].first, right[j].first);
    if (left[i].first <= right[j].first) i++;
    else j++;
  }
  return undefined;
}
