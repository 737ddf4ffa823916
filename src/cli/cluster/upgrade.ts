import type { Session } from '../terminal/session.ts';
import { changeSpec } from './cluster-call.ts';
import { isReady, waitForCluster } from './wait-for-cluster.ts';

/** Asks for another Kubernetes version. */
export async function upgrade(session: Session, name: string, flags: { to: string; wait?: boolean }): Promise<number> {
  const version = flags.to.replace(/^v/, '');
  const changed = await changeSpec(session, `upgrade cluster "${name}"`, name, () => ({ version }));
  const cluster = flags.wait === false ? changed : await waitForCluster(session, name, isReady);
  session.out(`cluster ${name} ${flags.wait === false ? `is upgraded to ${version}` : `has Kubernetes ${cluster?.status?.version}`}\n`);
  return 0;
}
