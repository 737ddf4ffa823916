import { createRequire } from 'node:module';
import { patternSize } from './pattern-size.ts';
import { MatchMachine } from './regex-match.ts';
import { RegexProgram, type StepCounter } from './regex-program.ts';
import { search, searchAll } from './regex-search.ts';
import type { Sliced } from './slices.ts';

/**
 * Regular expressions in the syntax and with the guarantees of Go's regexp package: matching time is linear in the text, so that
 * a tenant's pattern cannot hold the event loop. re2js reads the patterns, and is loaded for the first one; matching is our own,
 * because it must count its steps and pause.
 */
export class LinearRegExp {
  readonly source: string;
  private readonly program: RegexProgram;
  private readonly machine: MatchMachine;

  constructor(source: string, program: RegexProgram) {
    this.source = source;
    this.program = program;
    this.machine = new MatchMachine(program);
  }

  get size(): number {
    return this.program.size;
  }

  /** True when any part of the text matches. */
  test(text: string, counter: StepCounter): Sliced<boolean> {
    return this.machine.test(text, counter);
  }

  /** The first match. */
  *find(text: string, counter: StepCounter): Sliced<string | undefined> {
    // To know that there is none is much cheaper than to look for it.
    if (!(yield* this.test(text, counter))) return undefined;
    const found = yield* search(this.program, text, 0, counter);
    return found === undefined ? undefined : text.slice(found.start, found.end);
  }

  /** Up to `limit` matches; all when it is negative. */
  *findAll(text: string, limit: number, counter: StepCounter): Sliced<string[]> {
    if (!(yield* this.test(text, counter))) return [];
    return (yield* searchAll(this.program, text, limit, counter)).map(({ start, end }) => text.slice(start, end));
  }
}

/** A pattern that is none, in the words of Go's regexp.Compile. */
export class PatternError extends Error {}

type Engine = typeof import('re2js');

let engine: Engine | undefined;

function loadEngine(): Engine {
  engine ??= createRequire(import.meta.url)('re2js') as Engine;
  return engine;
}

/** Patterns that would compile to more are refused, in Go's words for those that are larger still. */
const LARGEST_PATTERN = 10_000;
/** Instructions that are kept for all patterns together. */
const MOST_KEPT = 100_000;
/** Compiling one instruction takes as long as so many steps. */
const STEPS_PER_INSTRUCTION = 16;

const compiled = new Map<string, LinearRegExp>();
let kept = 0;

/**
 * Patterns are compiled once and shared, as long as there is room for them.
 * @param counter is told what it costs to compile one that is new
 * @throws PatternError
 */
export function compileRegExp(source: string, counter?: StepCounter): LinearRegExp {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const size = source.length > LARGEST_PATTERN ? Infinity : patternSize(source);
  if (size > LARGEST_PATTERN) throw new PatternError('error parsing regexp: expression too large');
  counter?.tick(size * STEPS_PER_INSTRUCTION);
  const regExp = new LinearRegExp(source, readPattern(source));
  if (kept + regExp.size > MOST_KEPT) {
    compiled.clear();
    kept = 0;
  }
  kept += regExp.size;
  compiled.set(source, regExp);
  return regExp;
}

function readPattern(source: string): RegexProgram {
  const { RE2JS } = loadEngine();
  try {
    const { prog } = RE2JS.compile(source).re2() as unknown as { prog: ConstructorParameters<typeof RegexProgram>[0] };
    return new RegexProgram(prog);
  } catch (error) {
    throw new PatternError((error as Error).message, { cause: error });
  }
}

/** The complaint of Go's regexp.Compile about a pattern, or undefined when it is fine. */
export function regExpComplaint(source: string, counter?: StepCounter): string | undefined {
  try {
    compileRegExp(source, counter);
    return undefined;
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const text = error.message;
    return text.endsWith('trailing backslash at end of expression') ? `${text}: \`\`` : text;
  }
}
