import { KUBECONFIG_KEY, kubeconfigSecretOf } from '../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import { Secret } from '../../client/kinds.ts';
import { isStatusError } from '../../kube/status.ts';
import type { Session } from '../terminal/session.ts';
import { calling, changeSpec, clustersOf } from './cluster-call.ts';
import { isReady, waitForCluster } from './wait-for-cluster.ts';

/** Prints the kubeconfig of a cluster's administrators; with `revoke` a new one, and those of before are good for nothing. */
export async function kubeconfig(session: Session, name: string, flags: { revoke?: boolean }): Promise<number> {
  if (flags.revoke === true) {
    const doing = `revoke the kubeconfigs of cluster "${name}"`;
    await changeSpec(session, doing, name, ({ spec }) => ({ access: { revision: (spec.access?.revision ?? 0) + 1 } }));
    await waitForCluster(session, name, isReady);
    session.err(`Kubeconfigs of cluster ${name} that were handed out before have no rights any more.\n`);
  }
  session.out(await read(session, name));
  return 0;
}

function read(session: Session, name: string): Promise<string> {
  return calling(session, `read the kubeconfig of cluster "${name}"`, async () => {
    await clustersOf(session).get(name);
    try {
      const secret = await session.cluster.client.resource(Secret, session.namespace).get(kubeconfigSecretOf(name));
      return Buffer.from(secret.data?.[KUBECONFIG_KEY] ?? '', 'base64').toString('utf8');
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
      const what = `Cannot read the kubeconfig of cluster "${name}": it has none yet; \`tenantry cluster get ${name} -n ${session.namespace}\` shows what it waits for`;
      throw new Error(what, { cause: error });
    }
  });
}
