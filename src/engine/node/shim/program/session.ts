import { allProcesses } from '../system/process-identity.ts';

/** Processes that appear while we look are found in the next round; nothing forks faster than this for long, being killed. */
const MAX_ROUNDS = 20;

let wanted: { sessions: Set<number>; done: Promise<void> } | undefined;

/**
 * Kills everything in a session. Calls of the same turn share one look at all processes: when a node's Pods end together there are
 * hundreds of them.
 */
export function killSession(session: number): Promise<void> {
  if (wanted === undefined) {
    const sessions = new Set<number>();
    wanted = { sessions, done: nextTurn().then(() => killAll(sessions)) };
  }
  wanted.sessions.add(session);
  return wanted.done;
}

async function killAll(sessions: ReadonlySet<number>): Promise<void> {
  wanted = undefined;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    let found = 0;
    for (const { pid, session, state } of allProcesses()) {
      if (!sessions.has(session) || state === 'Z') continue;
      found++;
      kill(pid);
    }
    if (found === 0) break;
    await nextTurn();
  }
  // Where there is no list of processes, at least the group of the leader goes.
  if (process.platform !== 'linux') for (const session of sessions) kill(-session);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has gone by itself.
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
