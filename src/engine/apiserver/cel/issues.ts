/** Complaints about an expression, shown as cel-go shows them: with the line and a mark under the place. */
export interface CelIssue {
  /** Offset in code points; -1 when the complaint is about no place. */
  offset: number;
  message: string;
}

/** The source of an expression, by code points, as positions in messages count them. */
export class CelSource {
  readonly text: string;
  #points: string[] | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** Made when first asked for: an expression may be refused for its length alone. */
  get points(): string[] {
    return (this.#points ??= Array.from(this.text));
  }

  /** Line from 1, column from 0. */
  locate(offset: number): { line: number; column: number } {
    let line = 1;
    let start = 0;
    for (let at = 0; at < offset && at < this.points.length; at++) {
      if (this.points[at] !== '\n') continue;
      line++;
      start = at + 1;
    }
    return { line, column: offset - start };
  }

  line(number: number): string | undefined {
    return this.text.split('\n')[number - 1];
  }
}

const LONGEST_SNIPPET = 16384;
const MOST_ISSUES = 100;
/** A long line is shown again with each issue in it. */
const LONGEST_TEXT = 32_768;

/** Everything that is wrong with an expression, in the order of its places, as one text. */
export function issuesText(source: CelSource, issues: readonly CelIssue[]): string {
  const sorted = [...issues].sort((left, right) => left.offset - right.offset);
  const shown: string[] = [];
  let length = 0;
  for (const issue of sorted.slice(0, MOST_ISSUES)) {
    if (length > LONGEST_TEXT) break;
    const text = issueText(source, issue);
    length += text.length;
    shown.push(text);
  }
  if (sorted.length > shown.length) shown.push(`${sorted.length - shown.length} more errors were truncated`);
  return shown.join('\n');
}

function issueText(source: CelSource, issue: CelIssue): string {
  if (issue.offset < 0) return `ERROR: <input>:-1:0: ${issue.message}`;
  const { line, column } = source.locate(issue.offset);
  const head = `ERROR: <input>:${line}:${column + 1}: ${issue.message}`;
  const snippet = source.line(line)?.replaceAll('\t', ' ');
  if (snippet === undefined || snippet.length > LONGEST_SNIPPET) return head;
  const points = Array.from(snippet);
  const wide = (point: string | undefined): boolean => point !== undefined && (point.codePointAt(0) ?? 0) >= 0x80;
  const dots = points.slice(0, column).map((point) => (wide(point) ? '\uff0e' : '.'));
  return `${head}\n | ${snippet}\n | ${dots.join('')}${wide(points[column]) ? '\uff3e' : '^'}`;
}
