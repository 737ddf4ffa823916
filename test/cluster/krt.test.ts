import { krtSuite } from '../conformance/runs/krt.suite.ts';
import { startControlPlane } from './control-plane.ts';

krtSuite('a real kube-apiserver', async () => {
  const plane = await startControlPlane();
  return { kubeconfig: plane.kubeconfig, close: () => plane.stop() };
});
