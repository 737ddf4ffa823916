import { existsSync } from 'node:fs';
import { connectContext } from '../client/config/connect.ts';
import { loadKubeconfig } from '../client/config/kubeconfig-file.ts';
import { resolveContext, type ResolvedContext } from '../client/config/kubeconfig.ts';
import { createClient, type Client } from '../client/client.ts';

/** The context of an instance's admin kubeconfig. */
export async function instanceContext(kubeconfig: string): Promise<ResolvedContext> {
  if (!existsSync(kubeconfig)) {
    throw new Error(`Cannot find the kubeconfig "${kubeconfig}": no instance was started there yet; run \`tenantry up\` first`);
  }
  return resolveContext(await loadKubeconfig({ path: kubeconfig }));
}

export async function instanceClient(kubeconfig: string): Promise<{ client: Client; server: string }> {
  const context = await instanceContext(kubeconfig);
  const transport = await connectContext(context, { userAgent: 'tenantry' });
  return { client: createClient(transport, { retry: { maxRetries: 0 } }), server: context.cluster.server ?? '' };
}
