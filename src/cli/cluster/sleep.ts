import type { Session } from '../terminal/session.ts';
import { changeSpec } from './cluster-call.ts';
import { isAsleep, isReady, waitForCluster } from './wait-for-cluster.ts';

/** Ends the processes of a cluster, or starts them again; its data stays. */
export async function setAsleep(session: Session, name: string, asleep: boolean, flags: { wait?: boolean }): Promise<number> {
  const started = session.clock.monotonic();
  await changeSpec(session, `${asleep ? 'put to sleep' : 'wake'} cluster "${name}"`, name, () => ({ sleep: asleep }));
  if (flags.wait === false) {
    session.out(`cluster ${name} is ${asleep ? 'going to sleep' : 'waking up'}\n`);
    return 0;
  }
  await waitForCluster(session, name, asleep ? isAsleep : isReady);
  const seconds = ((session.clock.monotonic() - started) / 1000).toFixed(1);
  session.out(asleep ? `cluster ${name} sleeps\n` : `cluster ${name} is awake (${seconds} s)\n`);
  return 0;
}
