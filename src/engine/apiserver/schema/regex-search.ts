import {
  flagsBetween,
  runeAt,
  runeBefore,
  UNITS_PER_STEP,
  UNITS_PER_VISIT,
  unitsOf,
  type RegexProgram,
  type StepCounter,
} from './regex-program.ts';
import type { Sliced } from './slices.ts';

export interface Found {
  start: number;
  end: number;
}

const CHECK_EVERY = 1024;
const MATCHES_PER_TICK = 64;
const STEPS_PER_MATCH = 2;

/**
 * The leftmost match at or after a position, of those there the one that a backtracking search would find first: Go's semantics.
 * Threads are kept best first, each with the position it began at.
 */
export function* search(program: RegexProgram, text: string, from: number, counter: StepCounter): Sliced<Found | undefined> {
  let places: number[] = [];
  let starts: number[] = [];
  let found: Found | undefined;
  let visits = program.visits;
  let before = runeBefore(text, from);
  for (let at = from; ;) {
    const rune = runeAt(text, at);
    const flags = flagsBetween(before, rune);
    const here: number[] = [];
    const hereStarts: number[] = [];
    program.begin();
    for (const [each, place] of places.entries()) follow(program, place, starts[each], flags, here, hereStarts);
    if (found === undefined) follow(program, program.start, at, flags, here, hereStarts);
    places = [];
    starts = [];
    for (const [each, place] of here.entries()) {
      if (program.isMatch(place)) {
        found = { start: hereStarts[each], end: at };
        break;
      }
      const out = rune < 0 ? -1 : program.read(place, rune);
      if (out < 0) continue;
      places.push(out);
      starts.push(hereStarts[each]);
    }
    if (rune < 0 || (found !== undefined && places.length === 0)) return found;
    before = rune;
    at += unitsOf(rune);
    if (program.visits - visits < CHECK_EVERY) continue;
    if (counter.tick(((program.visits - visits) * UNITS_PER_VISIT) / UNITS_PER_STEP)) yield;
    visits = program.visits;
  }
}

function follow(program: RegexProgram, place: number, start: number, flags: number, places: number[], starts: number[]): void {
  program.follow(place, flags, places);
  while (starts.length < places.length) starts.push(start);
}

/** All matches up to a limit (none when negative), as Go's FindAllString: empty ones right after another do not count. */
export function* searchAll(program: RegexProgram, text: string, limit: number, counter: StepCounter): Sliced<Found[]> {
  const all: Found[] = [];
  const most = limit < 0 ? Infinity : limit;
  let previousEnd = -1;
  for (let at = 0; at <= text.length && all.length < most;) {
    const found = yield* search(program, text, at, counter);
    if (found === undefined) break;
    const isEmptyHere = found.end === at;
    if (!(isEmptyHere && found.start === previousEnd)) all.push(found);
    at = isEmptyHere ? at + unitsOf(runeAt(text, at)) : found.end;
    previousEnd = found.end;
    // A search that ends soon is not counted by itself.
    if (all.length % MATCHES_PER_TICK === 0 && counter.tick(MATCHES_PER_TICK * STEPS_PER_MATCH)) yield;
  }
  return all;
}
