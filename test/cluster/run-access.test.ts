import { readFileSync } from 'node:fs';
import { runtimeAccessSuite } from '../conformance/runs/access.suite.ts';
import { connectTarget } from '../support/api-target.ts';
import { startControlPlane } from './control-plane.ts';

runtimeAccessSuite('a real kube-apiserver', async () => {
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
