import type { ExitStatus, SystemCalls } from './system-calls.ts';

/**
 * Takes the end of children that Node did not start: containers that an OCI runtime left to us, and orphans of programs, which come
 * to us because we are a subreaper. Children of Node itself are left to Node.
 */
export class Reaper {
  readonly #calls: SystemCalls;
  readonly #ofNode = new Set<number>();
  readonly #adopted = new Map<number, (status: ExitStatus) => void>();
  /** Ends of orphans that somebody may yet adopt: a container can end before its runtime's pid file is read. */
  readonly #unclaimed = new Map<number, ExitStatus>();
  #expecting = 0;
  #again = false;

  constructor(calls: SystemCalls) {
    this.#calls = calls;
  }

  start(): void {
    this.#calls.becomeSubreaper();
    process.on('SIGCHLD', () => this.#collect());
  }

  /** A child that Node started and waits for. To be called in the same turn in which it was started. */
  leaveToNode(pid: number): { ended(): void } {
    this.#ofNode.add(pid);
    return { ended: () => void this.#ofNode.delete(pid) };
  }

  /** Ends of unknown children are kept until this is released. */
  expectOrphan(): { release(): void } {
    this.#expecting++;
    return {
      release: () => {
        this.#expecting--;
        if (this.#expecting === 0) this.#unclaimed.clear();
      },
    };
  }

  adopt(pid: number): Promise<ExitStatus> {
    const early = this.#unclaimed.get(pid);
    if (early !== undefined) return Promise.resolve(early);
    return new Promise((resolve) => {
      this.#adopted.set(pid, resolve);
      this.#collect();
    });
  }

  #collect(): void {
    for (let pid = this.#calls.peekEndedChild(); pid !== undefined; pid = this.#calls.peekEndedChild()) {
      if (this.#ofNode.has(pid)) {
        // Node takes it within this turn or the next; what is behind it in the kernel's list comes after.
        this.#collectLater();
        return;
      }
      const status = this.#calls.reap(pid);
      if (status === undefined) return;
      const waiting = this.#adopted.get(pid);
      this.#adopted.delete(pid);
      if (waiting !== undefined) waiting(status);
      else if (this.#expecting > 0) this.#unclaimed.set(pid, status);
    }
  }

  #collectLater(): void {
    if (this.#again) return;
    this.#again = true;
    setImmediate(() => {
      this.#again = false;
      this.#collect();
    });
  }
}
