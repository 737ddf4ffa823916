import { sleep } from '../../../../lib/abort.ts';
import { realClock } from '../../../../lib/clock.ts';
import { processTable, type ProcessIdentity } from '../../../../lib/process-table.ts';

const GRACE_MS = 3000;
/** Nobody tells when a process ends that is not our child. */
const LOOK_EVERY_MS = 10;

/** Ends the process that the record names with all of its group, and no other that has its number by now. Resolves when it is gone. */
export async function endMachine(identity: ProcessIdentity | undefined): Promise<void> {
  if (identity === undefined || !processTable.isAlive(identity)) return;
  signal(identity.pid, 'SIGTERM');
  for (let waited = 0; processTable.isAlive(identity); waited += LOOK_EVERY_MS) {
    if (waited === GRACE_MS) signal(identity.pid, 'SIGKILL');
    await sleep(realClock, LOOK_EVERY_MS);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, name);
    } catch {
      // It ended just now, or leads no group.
    }
  }
}
