import { readFileSync } from 'node:fs';
import { connectTarget, type ApiTarget } from '../support/api-target.ts';
import { startControlPlane } from './control-plane.ts';

/** A real kube-apiserver with its etcd, for the suites that every server must pass. */
export async function startKubernetesTarget(): Promise<ApiTarget> {
  const plane = await startControlPlane();
  return connectTarget({
    name: 'kube-apiserver',
    url: plane.url,
    kubeconfig: plane.kubeconfig,
    ca: readFileSync(plane.certificates.ca, 'utf8'),
    token: plane.adminToken,
    close: () => plane.stop(),
  });
}
