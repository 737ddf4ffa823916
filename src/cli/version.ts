import { existsSync } from 'node:fs';
import { instanceClient } from './instance.ts';

/** The version of this command, and of the instance if one answers. */
export async function printVersion(own: string, kubeconfig: string): Promise<void> {
  console.log(`Command:  tenantry ${own}`);
  if (!existsSync(kubeconfig)) return;
  const { client, server } = await instanceClient(kubeconfig);
  try {
    const version = await client.request<{ gitVersion: string }>({ method: 'GET', path: '/version' });
    console.log(`Instance: Kubernetes API ${version.gitVersion} at ${server}`);
  } catch {
    console.log(`Instance: does not answer at ${server}`);
  } finally {
    await client.close();
  }
}
