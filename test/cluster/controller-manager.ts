import { spawn } from 'node:child_process';
import { binary } from './binaries.ts';
import type { ControlPlane } from './control-plane.ts';

/** A real kube-controller-manager with only the controllers named here (`deployment`, `job` ...). Resolves to what ends it. */
export async function startControllerManager(plane: ControlPlane, names: string[], flags: string[] = []): Promise<() => Promise<void>> {
  const path = await binary('kube-controller-manager');
  const controllers = names.map((name) => `${name}-controller`).join(',');
  const args = [`--kubeconfig=${plane.kubeconfig}`, `--controllers=${controllers}`, '--leader-elect=false', '--secure-port=0', ...flags];
  const child = spawn(path, args, { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  return () => {
    child.kill('SIGKILL');
    return ended;
  };
}
