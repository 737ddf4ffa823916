/** What a running PostgreSQL says about itself in `postmaster.pid`. */
export interface Postmaster {
  pid: number;
  port: number;
  /** The addresses that it was told to listen on, as it keeps the first of them. */
  address: string;
  isReady: boolean;
}

const [PID, PORT, ADDRESS, STATUS] = [0, 3, 5, 7];

/** Undefined while it is being written, and for anything else that is none. */
export function parsePostmaster(text: string): Postmaster | undefined {
  const lines = text.split('\n');
  const pid = Number(lines[PID]);
  const port = Number(lines[PORT]);
  // A single-user server writes its pid with a minus.
  if (!Number.isInteger(pid) || pid <= 0 || !Number.isInteger(port) || port <= 0) return undefined;
  return { pid, port, address: (lines[ADDRESS] ?? '').trim(), isReady: (lines[STATUS] ?? '').trim() === 'ready' };
}
