import { realClock, type Clock } from '../../../src/lib/clock.ts';

const TIMES_FASTER = 30;

/** Timers come sooner, the time of day does not: autoscalers look twice a second instead of four times a minute. */
export const HASTY_CLOCK: Clock = { ...realClock, setTimer: (ms, callback) => realClock.setTimer(ms / TIMES_FASTER, callback) };
