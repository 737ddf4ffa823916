/**
 * A bound on the number of instructions a pattern compiles to, found without compiling it: repetitions multiply what they repeat.
 * It need not understand the pattern, only not be fooled into a number that is much too small.
 */
export function patternSize(source: string): number {
  const outer: number[] = [];
  let total = 1;
  let last = 0;
  for (let at = 0; at < source.length;) {
    const mark = source[at];
    if (mark === '(') {
      outer.push(total);
      total = 2;
      last = 0;
      at++;
    } else if (mark === ')') {
      last = total;
      total = (outer.pop() ?? 0) + last;
      at++;
    } else if (mark === '{') {
      const { times, length } = repetition(source, at);
      total += last * (times - 1) + 1;
      last *= times;
      at += length;
    } else {
      const atom = atomAt(source, at);
      last = atom.size === 0 ? last : atom.size;
      total += atom.size === 0 ? 1 : atom.size;
      at += atom.length;
    }
    if (total > Number.MAX_SAFE_INTEGER) return total;
  }
  return outer.reduce((sum, size) => sum + size, total);
}

/** Classes of Unicode are tables that take long to make, the more so when case does not matter. */
const TABLE_SIZE = 40;

/** One character of a pattern, or one class. Size 0: an operator that adds to what is before it. */
function atomAt(source: string, at: number): { size: number; length: number } {
  const mark = source[at];
  if (mark === '*' || mark === '+' || mark === '?') return { size: 0, length: 1 };
  if (mark === '\\') return escapeAt(source, at);
  if (mark !== '[') return { size: 1, length: 1 };
  let end = at + 1;
  let size = 1;
  if (source[end] === '^') end++;
  if (source[end] === ']') end++;
  while (end < source.length && source[end] !== ']') {
    const escape = source[end] === '\\' ? escapeAt(source, end) : { size: 0, length: 1 };
    size += escape.size > 1 ? escape.size : 0;
    // A named class has brackets of its own.
    end += source.startsWith('[:', end) && source.includes(':]', end) ? source.indexOf(':]', end) + 2 - end : escape.length;
  }
  return { size, length: end + 1 - at };
}

function escapeAt(source: string, at: number): { size: number; length: number } {
  const isTable = source[at + 1] === 'p' || source[at + 1] === 'P';
  return { size: isTable ? TABLE_SIZE : 1, length: 2 };
}

const REPETITION = /\{(\d{1,9})(?:(,)(\d{1,9})?)?\}/y;

function repetition(source: string, at: number): { times: number; length: number } {
  REPETITION.lastIndex = at;
  const match = REPETITION.exec(source);
  if (match === null) return { times: 1, length: 1 };
  const least = Number(match[1]);
  const most = match[3] === undefined ? least + 1 : Number(match[3]) * 2;
  return { times: Math.max(least, most, 1), length: match[0].length };
}
