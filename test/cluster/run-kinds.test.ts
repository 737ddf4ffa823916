import { readFileSync } from 'node:fs';
import { runKindsSuite } from '../conformance/runs/kinds.suite.ts';
import { connectTarget } from '../support/api-target.ts';
import { startControlPlane } from './control-plane.ts';

runKindsSuite('a real kube-apiserver', async () => {
  const plane = await startControlPlane();
  return connectTarget({
    name: 'kube-apiserver',
    url: plane.url,
    kubeconfig: plane.kubeconfig,
    ca: readFileSync(plane.certificates.ca, 'utf8'),
    token: plane.adminToken,
    close: () => plane.stop(),
  });
});
