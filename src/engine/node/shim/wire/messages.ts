import type { ProgramEnd, ShimErrorCode, ShimProgram, ShimProgramState, StartedProgram, TransientProgram } from '../shim.ts';
import type { StreamNumber } from './frames.ts';

/** Dates cross the socket and lie on disk as text. */
export type Written<T> = {
  [Key in keyof T]: T[Key] extends Date ? string : T[Key] extends ProgramEnd | undefined ? Written<ProgramEnd> | undefined : T[Key];
};

/** Calls and their answers. A call that opens streams gives its number to them as their session. */
export interface ShimCalls {
  start: { parameters: ShimProgram; result: Written<StartedProgram> };
  list: { parameters: Record<string, never>; result: Written<ShimProgramState>[] };
  ended: { parameters: { id: string }; result: Written<ProgramEnd> };
  signal: { parameters: { id: string; signal: NodeJS.Signals; group: boolean }; result: null };
  attach: { parameters: { id: string }; result: OpenedStreams };
  run: { parameters: TransientProgram; result: OpenedStreams };
  reopenLog: { parameters: { id: string }; result: null };
  forget: { parameters: { id: string }; result: null };
  endIfIdle: { parameters: Record<string, never>; result: null };
}

export interface OpenedStreams {
  stdin: boolean;
  stderr: boolean;
}

export type ShimCall = keyof ShimCalls;

export type ClientMessage =
  | { [Name in ShimCall]: { type: 'call'; number: number; name: Name; parameters: ShimCalls[Name]['parameters'] } }[ShimCall]
  | { type: 'consumed'; session: number; stream: StreamNumber; bytes: number }
  | { type: 'resize'; session: number; columns: number; rows: number }
  | { type: 'close'; session: number };

export type ServerMessage =
  | { type: 'result'; number: number; value: unknown }
  | { type: 'failure'; number: number; code: ShimErrorCode; message: string }
  | { type: 'consumed'; session: number; stream: StreamNumber; bytes: number }
  | { type: 'ended'; session: number; exitCode: number; signal?: NodeJS.Signals };

export function readEnd(end: Written<ProgramEnd>): ProgramEnd {
  return { ...end, startedAt: new Date(end.startedAt), finishedAt: new Date(end.finishedAt) };
}

export function readState(state: Written<ShimProgramState>): ShimProgramState {
  return { ...state, startedAt: new Date(state.startedAt), end: state.end && readEnd(state.end) };
}
