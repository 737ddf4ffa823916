import type { Attempt } from './model/attempt.ts';
import type { AnsweredRequest } from './model/api-attempt.ts';

/** Tells what was refused, from when it is started until it is stopped. */
export interface AttemptSource {
  stop(): Promise<void> | void;
}

export type Report = (attempt: Attempt) => void;

/** The requests that an API server refused, where it is one that tells us. @returns what ends it */
export type FollowRefusals = (told: (request: AnsweredRequest) => void) => () => void;
