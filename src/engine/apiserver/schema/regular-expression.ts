import { createRequire } from 'node:module';

/**
 * Regular expressions in the syntax and with the guarantees of Go's regexp package: matching time is linear in the text, so that
 * a tenant's pattern cannot hold the event loop. The engine is loaded when the first pattern is compiled.
 */
export interface LinearRegExp {
  readonly source: string;
  /** True when any part of the text matches. */
  test(text: string): boolean;
  /** The first match. */
  find(text: string): string | undefined;
  /** Up to `limit` matches; all when it is negative. */
  findAll(text: string, limit: number): string[];
  /** Every match replaced, with `\1` for groups, as CEL's regex library does; all when `limit` is negative. */
  replace(text: string, replacement: (groups: (string | undefined)[]) => string, limit: number): string;
  /** First group (or the whole) of each match. */
  groups(text: string, limit: number): { whole: string; groups: (string | undefined)[] }[];
  readonly groupCount: number;
}

type Engine = typeof import('re2js');

let engine: Engine | undefined;

function loadEngine(): Engine {
  engine ??= createRequire(import.meta.url)('re2js') as Engine;
  return engine;
}

const MOST_CACHED = 2000;
const compiled = new Map<string, LinearRegExp>();

/** Patterns are compiled once and shared. @throws Error in the words of Go's regexp.Compile */
export function compileRegExp(source: string): LinearRegExp {
  let regExp = compiled.get(source);
  if (regExp === undefined) {
    regExp = compileFresh(source);
    if (compiled.size >= MOST_CACHED) compiled.clear();
    compiled.set(source, regExp);
  }
  return regExp;
}

function compileFresh(source: string): LinearRegExp {
  const { RE2JS } = loadEngine();
  const program = RE2JS.compile(source);
  const groupCount = program.groupCount();
  const matches = (text: string, limit: number): { start: number; end: number; groups: (string | undefined)[] }[] => {
    const matcher = program.matcher(text);
    const found: { start: number; end: number; groups: (string | undefined)[] }[] = [];
    while ((limit < 0 || found.length < limit) && matcher.find()) {
      const groups: (string | undefined)[] = [];
      for (let group = 1; group <= groupCount; group++) groups.push(matcher.group(group) ?? undefined);
      found.push({ start: matcher.start(), end: matcher.end(), groups });
    }
    return found;
  };
  return {
    source,
    groupCount,
    test: (text) => program.test(text),
    find: (text) => {
      const [first] = matches(text, 1);
      return first === undefined ? undefined : text.slice(first.start, first.end);
    },
    findAll: (text, limit) => matches(text, limit).map((match) => text.slice(match.start, match.end)),
    groups: (text, limit) => matches(text, limit).map((match) => ({ whole: text.slice(match.start, match.end), groups: match.groups })),
    replace: (text, replacement, limit) => {
      let out = '';
      let from = 0;
      for (const match of matches(text, limit)) {
        out += text.slice(from, match.start) + replacement([text.slice(match.start, match.end), ...match.groups]);
        from = match.end;
      }
      return out + text.slice(from);
    },
  };
}

/** The complaint of Go's regexp.Compile about a pattern, or undefined when it is fine. */
export function regExpComplaint(source: string): string | undefined {
  try {
    compileRegExp(source);
    return undefined;
  } catch (error) {
    const text = (error as Error).message;
    return text.endsWith('trailing backslash at end of expression') ? `${text}: \`\`` : text;
  }
}
