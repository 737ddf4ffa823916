/** How a step ends, other than by throwing (unexpected: back off and try again). */
export type Outcome = Done | Waiting | Stalled;

export interface Done {
  type: 'done';
  reason: string;
  message: string;
}

/** Something that is expected to happen has not happened yet. Its watch, or the timer, wakes the object again. */
export interface Waiting {
  type: 'waiting';
  reason: string;
  message: string;
  afterMs?: number;
}

/** Nothing will happen before somebody changes the object or what it refers to. */
export interface Stalled {
  type: 'stalled';
  reason: string;
  message: string;
}

export function done(reason = 'Done', message = ''): Done {
  return { type: 'done', reason, message };
}

export function waiting(reason: string, message: string, afterMs?: number): Waiting {
  return afterMs === undefined ? { type: 'waiting', reason, message } : { type: 'waiting', reason, message, afterMs };
}

export function stalled(reason: string, message: string): Stalled {
  return { type: 'stalled', reason, message };
}
