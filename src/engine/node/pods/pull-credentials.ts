import type { KubeObject } from '../../../kube/object.ts';
import type { RegistryCredential } from '../images/images.ts';
import { credentialsFromDockerConfig } from '../../../lib/oci/docker-config.ts';
import type { PodObject } from './model/pod-object.ts';

const FORMS = { '.dockerconfigjson': 'dockerconfigjson', '.dockercfg': 'dockercfg' } as const;

/** From the imagePullSecrets of a Pod; those of its ServiceAccount were put there when it was created. */
export async function pullCredentials(
  { metadata, spec }: PodObject,
  readSecret: (namespace: string, name: string) => Promise<KubeObject | undefined>,
): Promise<RegistryCredential[]> {
  const credentials: RegistryCredential[] = [];
  for (const { name } of spec!.imagePullSecrets ?? []) {
    const secret = name ? await readSecret(metadata.namespace!, name) : undefined;
    if (secret) credentials.push(...credentialsOf(secret));
  }
  return credentials;
}

/** Secrets that are damaged or of another type are passed over, as by a kubelet: the pull will tell whether they were needed. */
function credentialsOf({ data }: KubeObject): RegistryCredential[] {
  for (const [key, form] of Object.entries(FORMS)) {
    const text: unknown = data?.[key];
    if (typeof text !== 'string') continue;
    try {
      return credentialsFromDockerConfig(Buffer.from(text, 'base64').toString('utf8'), form);
    } catch {
      return [];
    }
  }
  return [];
}
