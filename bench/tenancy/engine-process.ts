import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createClient, type Client } from '../../src/client/client.ts';
import { connectContext } from '../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../src/client/config/kubeconfig.ts';

export interface EngineProcess {
  client: Client;
  pid: number;
  stop(): Promise<void>;
}

export async function connect(kubeconfig: string): Promise<Client> {
  return createClient(await connectContext(resolveContext(await loadKubeconfig({ path: kubeconfig }))));
}

/** `tenantry up` as users have it, on a data directory that outlives it. Without a node unless told otherwise: no Pod of most measurements has to run. */
export async function startEngineProcess(data: string, options: readonly string[], node = 'none'): Promise<EngineProcess> {
  const child = spawn(process.execPath, ['bin/tenantry', 'up', '--data', data, '--port', '0', '--node', node, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes(' is ready at ')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`tenantry ended with ${code}`)));
  });
  const client = await connect(join(data, 'kubeconfig'));
  return {
    client,
    pid: child.pid!,
    async stop() {
      await client.close();
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await exited;
    },
  };
}
