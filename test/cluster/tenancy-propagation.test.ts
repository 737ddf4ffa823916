import { createClient } from '../../src/client/client.ts';
import { connectContext } from '../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../src/client/config/kubeconfig.ts';
import { propagationSuite } from '../integration/tenancy/propagation.suite.ts';
import { startControlPlane } from './control-plane.ts';

propagationSuite('a real kube-apiserver', async () => {
  const plane = await startControlPlane();
  const client = createClient(await connectContext(resolveContext(await loadKubeconfig({ path: plane.kubeconfig }))));
  return {
    client,
    async stop() {
      await client.close();
      await plane.stop();
    },
  };
});
