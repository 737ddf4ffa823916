import { sleep } from '../../../../lib/abort.ts';
import { realClock, type Clock } from '../../../../lib/clock.ts';
import { processTable, type ProcessIdentity } from '../../../../lib/process-table.ts';
import { MachineError } from '../machines.ts';

const GRACE_MS = 3000;
/** From SIGKILL on. A process that waits for a disk in the kernel ends when the disk answers, and nobody can hurry it. */
const PATIENCE_MS = 10_000;
/** Nobody tells when a process ends that is not our child. */
const LOOK_EVERY_MS = 10;

/** The host as this needs it. */
export interface Ending {
  clock: Clock;
  isAlive(identity: ProcessIdentity): boolean;
  kill(target: number, signal: NodeJS.Signals): void;
}

const HOST: Ending = {
  clock: realClock,
  isAlive: (identity) => processTable.isAlive(identity),
  kill: (target, signal) => void process.kill(target, signal),
};

/**
 * Ends the process that the record names with all of its group, and no other that has its number by now. Resolves when it is gone.
 * @throws MachineError when it does not go
 */
export async function endMachine(identity: ProcessIdentity | undefined, host: Ending = HOST): Promise<void> {
  if (identity === undefined || !host.isAlive(identity)) return;
  signal(identity.pid, 'SIGTERM', host);
  for (let waited = 0; host.isAlive(identity); waited += LOOK_EVERY_MS) {
    if (waited === GRACE_MS) signal(identity.pid, 'SIGKILL', host);
    if (waited === GRACE_MS + PATIENCE_MS) {
      throw new MachineError(
        `Cannot end process "${identity.pid}": it lives ${PATIENCE_MS / 1000} seconds after SIGKILL; see what it waits for (/proc/${identity.pid}/stack)`,
        { afterMs: PATIENCE_MS },
      );
    }
    await sleep(host.clock, LOOK_EVERY_MS);
  }
}

function signal(pid: number, name: NodeJS.Signals, { kill }: Ending): void {
  for (const target of [-pid, pid]) {
    try {
      kill(target, name);
    } catch {
      // It ended just now, or leads no group.
    }
  }
}
