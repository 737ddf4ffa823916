import { spawn } from 'node:child_process';
import { binary } from './binaries.ts';

/** Kubernetes' own scheduler. @returns what ends it */
export async function startKubeScheduler({ kubeconfig }: { kubeconfig: string }): Promise<() => Promise<void>> {
  const path = await binary('kube-scheduler');
  const scheduler = spawn(path, [`--kubeconfig=${kubeconfig}`, '--leader-elect=false', '--secure-port=0'], { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => void scheduler.once('exit', () => resolve()));
  return () => {
    scheduler.kill('SIGKILL');
    return ended;
  };
}
