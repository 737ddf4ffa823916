import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Client } from '../../src/client/client.ts';
import { connectContext } from '../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../src/client/config/kubeconfig.ts';

export interface Product {
  data: string;
  child: ChildProcess;
  client: Client;
}

/** As another user than the one who started it, who may do everything. */
export async function userClient(data: string, user: string): Promise<Client> {
  const context = resolveContext(await loadKubeconfig({ path: join(data, 'kubeconfig') }));
  return createClient(await connectContext(context), { headers: { 'Impersonate-User': user, 'Impersonate-Group': 'system:masters' } });
}

/** Starts `tenantry up` in a folder of its own, gives it to `use`, and leaves nothing of it. */
export async function withProduct(options: string[], use: (product: Product) => Promise<void>): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'tenantry-bench-runs-'));
  const child = spawn(process.execPath, ['bin/tenantry', 'up', '--data', data, '--port', '0', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // A session of its own, as it has in real life: Linux shares processors among sessions.
    detached: true,
  });
  try {
    await isReady(child);
    const context = resolveContext(await loadKubeconfig({ path: join(data, 'kubeconfig') }));
    await use({ data, child, client: createClient(await connectContext(context)) });
  } finally {
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
    rmSync(data, { recursive: true, force: true });
  }
}

function isReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout!.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes(' is ready at ')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`tenantry ended with ${code}`)));
  });
}
