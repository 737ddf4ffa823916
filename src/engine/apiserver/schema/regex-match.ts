import {
  AT_BEGIN,
  AT_END,
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

/** A set of places that the automaton can be in, with the transitions found so far. */
interface State {
  readonly places: Int32Array;
  readonly ascii: (State | undefined)[];
  readonly others: Map<number, State>;
  acceptsAtEnd?: boolean;
}

const ACCEPTED: State = { places: new Int32Array(0), ascii: [], others: new Map() };

/** Places and transitions that all patterns together may remember; beyond, all forget. */
const MOST_REMEMBERED = 500_000;
/** A text that makes so many states of one pattern gains nothing from remembering them. */
const MOST_STATES = 512;
const MOST_OTHERS = 128;
const CHECK_EVERY = 2048;

let remembered = 0;
let generation = 0;

/** Tells whether any part of a text matches, remembering the sets of places it went through. */
export class MatchMachine {
  private readonly program: RegexProgram;
  private states = new Map<string, State>();
  private first?: State;
  private generation = generation;

  constructor(program: RegexProgram) {
    this.program = program;
  }

  *test(text: string, counter: StepCounter): Sliced<boolean> {
    if (this.program.contextual || text === '') return yield* this.simulate(text, 0, [], counter);
    if (this.generation !== generation) this.forget();
    let state = this.first ?? this.makeFirst();
    let visits = this.program.visits;
    let units = 0;
    for (let at = 0; at < text.length;) {
      if (state === ACCEPTED) return true;
      if (state.places.length === 0) return false;
      if (this.states.size > MOST_STATES) {
        this.forget();
        return yield* this.simulate(text, at, state.places, counter);
      }
      const unit = text.charCodeAt(at);
      if (unit < 128) {
        state = state.ascii[unit] ?? this.step(state, unit);
        at++;
      } else {
        const rune = runeAt(text, at);
        state = state.others.get(rune) ?? this.step(state, rune);
        at += unitsOf(rune);
      }
      if (++units < CHECK_EVERY && this.program.visits - visits < CHECK_EVERY) continue;
      if (counter.tick((units + (this.program.visits - visits) * UNITS_PER_VISIT) / UNITS_PER_STEP)) yield;
      visits = this.program.visits;
      units = 0;
    }
    return state === ACCEPTED || this.acceptsAtEnd(state);
  }

  private forget(): void {
    if (this.generation === generation) for (const state of this.states.values()) remembered -= weight(state.places.length);
    this.states = new Map();
    this.first = undefined;
    this.generation = generation;
  }

  private makeFirst(): State {
    this.program.begin();
    const places: number[] = [];
    const matched = this.program.follow(this.program.start, AT_BEGIN, places);
    this.first = matched ? ACCEPTED : this.stateOf(places);
    return this.first;
  }

  private step(state: State, rune: number): State {
    const next = this.after(state.places, rune, 0);
    const target = next === undefined ? ACCEPTED : this.stateOf(next);
    if (rune < 128) state.ascii[rune] = target;
    else if (state.others.size < MOST_OTHERS) state.others.set(rune, target);
    return target;
  }

  /** The places after a character, a match that begins there included; undefined when the pattern has matched. */
  private after(places: ArrayLike<number>, rune: number, flags: number): number[] | undefined {
    const { program } = this;
    const next: number[] = [];
    program.begin();
    for (let each = 0; each < places.length; each++) {
      const out = program.read(places[each], rune);
      if (out >= 0 && program.follow(out, flags, next)) return undefined;
    }
    return program.follow(program.start, flags, next) ? undefined : next;
  }

  private stateOf(places: number[]): State {
    places.sort((left, right) => left - right);
    const name = places.map((place) => String.fromCharCode(place)).join('');
    let state = this.states.get(name);
    if (state === undefined) {
      state = { places: Int32Array.from(places), ascii: [], others: new Map() };
      this.states.set(name, state);
      remembered += weight(places.length);
      if (remembered > MOST_REMEMBERED) {
        remembered = 0;
        generation++;
      }
    }
    return state;
  }

  private acceptsAtEnd(state: State): boolean {
    if (state.acceptsAtEnd === undefined) {
      this.program.begin();
      state.acceptsAtEnd = Array.from(state.places).some((place) => this.program.follow(place, AT_END, []));
    }
    return state.acceptsAtEnd;
  }

  /** Without remembering: for patterns whose assertions look around, and for texts that lead to ever new states. */
  private *simulate(text: string, from: number, places: ArrayLike<number>, counter: StepCounter): Sliced<boolean> {
    const { program } = this;
    let current = places;
    let before = runeBefore(text, from);
    let visits = program.visits;
    for (let at = from; ;) {
      const rune = runeAt(text, at);
      const flags = flagsBetween(before, rune);
      const here: number[] = [];
      program.begin();
      for (let each = 0; each < current.length; each++) {
        if (program.follow(current[each], flags, here)) return true;
      }
      if (program.follow(program.start, flags, here)) return true;
      if (rune < 0) return false;
      const next: number[] = [];
      for (const place of here) {
        const out = program.read(place, rune);
        if (out >= 0) next.push(out);
      }
      current = next;
      before = rune;
      at += unitsOf(rune);
      if (program.visits - visits < CHECK_EVERY) continue;
      if (counter.tick(((program.visits - visits) * UNITS_PER_VISIT) / UNITS_PER_STEP)) yield;
      visits = program.visits;
    }
  }
}

/** What a state takes up: its places, and a transition for each ASCII character. */
function weight(places: number): number {
  return places + 128;
}
