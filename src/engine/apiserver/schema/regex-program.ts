/** An instruction of re2js, as its compiler makes it. */
interface Instruction {
  op: number;
  out: number;
  arg: number;
  matchRune(rune: number): boolean;
}

const ALT = 1;
const ALT_MATCH = 2;
const CAPTURE = 3;
const EMPTY_WIDTH = 4;
const MATCH = 6;
const NOP = 7;
const RUNE_ANY = 10;
const RUNE_ANY_NOT_NL = 11;

const BEGIN_LINE = 1;
const END_LINE = 2;
export const BEGIN_TEXT = 4;
export const END_TEXT = 8;
const WORD_BOUNDARY = 16;
const NO_WORD_BOUNDARY = 32;
const OF_TEXT = BEGIN_TEXT | END_TEXT;

export const AT_BEGIN = BEGIN_TEXT | BEGIN_LINE;
export const AT_END = END_TEXT | END_LINE;

/** Counts steps of matching; true when it is time to pause. It may throw when there were too many. */
export interface StepCounter {
  tick(steps: number): boolean;
}

/** One count of a StepCounter is as many of the units below. */
export const UNITS_PER_STEP = 16;
/** Looking at an instruction costs about as much as following this many known transitions. */
export const UNITS_PER_VISIT = 6;

/** A compiled pattern as a nondeterministic automaton: what is left of re2js once it has read the pattern. */
export class RegexProgram {
  readonly start: number;
  readonly size: number;
  /** Some assertion depends on the characters around it: `\b`, or `^` and `$` of lines. */
  readonly contextual: boolean;
  private readonly instructions: readonly Instruction[];
  private readonly visited: Uint32Array;
  private round = 0;
  private readonly stack: number[] = [];
  /** Instructions looked at, in all. */
  visits = 0;

  constructor(compiled: { start: number; inst: readonly Instruction[] }) {
    this.start = compiled.start;
    this.instructions = compiled.inst;
    this.size = compiled.inst.length;
    this.visited = new Uint32Array(this.size);
    this.contextual = compiled.inst.some(({ op, arg }) => op === EMPTY_WIDTH && (arg & ~OF_TEXT) !== 0);
  }

  /** Begins a new set of places: none is in it yet. */
  begin(): void {
    if (++this.round === 0xffffffff) {
      this.visited.fill(0);
      this.round = 1;
    }
  }

  /**
   * Adds all places that are reached from one without reading a character, best first. Assertions that do not hold stay in the
   * set: they may hold once the text ends. @returns true when the pattern matches here
   */
  follow(from: number, flags: number, places: number[]): boolean {
    const { stack, instructions, visited } = this;
    stack.length = 0;
    stack.push(from);
    let matched = false;
    for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
      if (visited[place] === this.round) continue;
      visited[place] = this.round;
      this.visits++;
      const { op, out, arg } = instructions[place];
      if (op === ALT || op === ALT_MATCH) stack.push(arg, out);
      else if (op === CAPTURE || op === NOP || (op === EMPTY_WIDTH && (arg & ~flags) === 0)) stack.push(out);
      else {
        matched ||= op === MATCH;
        places.push(place);
      }
    }
    return matched;
  }

  /** The place after reading a character, or -1. */
  read(place: number, rune: number): number {
    const instruction = this.instructions[place];
    this.visits++;
    if (instruction.op < MATCH) return -1;
    if (instruction.op === RUNE_ANY) return instruction.out;
    if (instruction.op === RUNE_ANY_NOT_NL) return rune === 10 ? -1 : instruction.out;
    return instruction.op > NOP && instruction.matchRune(rune) ? instruction.out : -1;
  }

  isMatch(place: number): boolean {
    return this.instructions[place].op === MATCH;
  }
}

/** What holds between two characters; -1 stands for the begin or the end of the text. */
export function flagsBetween(before: number, after: number): number {
  let flags = 0;
  if (before < 0) flags |= AT_BEGIN;
  else if (before === 10) flags |= BEGIN_LINE;
  if (after < 0) flags |= AT_END;
  else if (after === 10) flags |= END_LINE;
  return flags | (isWord(before) === isWord(after) ? NO_WORD_BOUNDARY : WORD_BOUNDARY);
}

function isWord(rune: number): boolean {
  return (rune >= 97 && rune <= 122) || (rune >= 65 && rune <= 90) || (rune >= 48 && rune <= 57) || rune === 95;
}

export function runeAt(text: string, at: number): number {
  return text.codePointAt(at) ?? -1;
}

export function runeBefore(text: string, at: number): number {
  if (at <= 0) return -1;
  const unit = text.charCodeAt(at - 1);
  return unit >= 0xdc00 && unit <= 0xdfff && at > 1 ? runeAt(text, at - 2) : unit;
}

export function unitsOf(rune: number): number {
  return rune > 0xffff ? 2 : 1;
}
