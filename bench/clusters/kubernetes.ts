import { startControlPlane } from '../../test/cluster/control-plane.ts';
import { ms, row } from '../tenancy/figures.ts';
import { proportionalBytes } from './proportional-memory.ts';

/** What the same costs with the real ones, in the same run. */
export async function benchKubernetes(): Promise<void> {
  const started = performance.now();
  const plane = await startControlPlane();
  row('kube-apiserver + etcd: start -> ready', ms(performance.now() - started), 'for comparison');
  await new Promise((resolve) => void setTimeout(resolve, 5000));
  const bytes = proportionalBytes(plane.pids.apiserver) + proportionalBytes(plane.pids.etcd);
  row('kube-apiserver + etcd: memory (PSS)', `${(bytes / 1_000_000).toFixed(0)} MB`, 'for comparison');
  await plane.stop();
}
