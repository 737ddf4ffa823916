import { sleep } from '../../../../lib/abort.ts';
import { realClock } from '../../../../lib/clock.ts';
import { processTable, type ProcessIdentity } from '../../../../lib/process-table.ts';

const GRACE_MS = 5000;
/** Nobody tells when a process ends that is not our child. */
const LOOK_EVERY_MS = 10;

/** Ends the process that the record names, and no other that has its number by now. Resolves when it is gone. */
export async function endProcess(process_: ProcessIdentity | undefined): Promise<void> {
  if (process_ === undefined || !processTable.isAlive(process_)) return;
  signal(process_, 'SIGTERM');
  for (let waited = 0; processTable.isAlive(process_); waited += LOOK_EVERY_MS) {
    if (waited === GRACE_MS) signal(process_, 'SIGKILL');
    await sleep(realClock, LOOK_EVERY_MS);
  }
}

function signal({ pid }: ProcessIdentity, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended just now.
  }
}
