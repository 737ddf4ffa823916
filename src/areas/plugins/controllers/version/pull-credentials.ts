import { PLATFORM_NAMESPACE, PULL_SECRET_LABEL } from '../../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { PluginVersion } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import type { Client } from '../../../../client/client.ts';
import { Secret } from '../../../../client/kinds.ts';
import { isStatusError } from '../../../../kube/status.ts';
import type { RegistryCredential } from '../../../../lib/oci/credentials.ts';
import { credentialsFromDockerConfig } from '../../../../lib/oci/docker-config.ts';
import { RegistryError } from '../../../../lib/oci/registry-error.ts';

/** The credentials of the pull Secret that a manifest names: one of the platform's namespace that is meant for its publisher. */
export async function pullCredentials(client: Client, { spec }: PluginVersion): Promise<RegistryCredential[]> {
  const name = spec.manifest.spec.runtime.imagePullSecret;
  if (name === undefined) return [];
  const secret = await client
    .resource(Secret, PLATFORM_NAMESPACE)
    .get(name)
    .catch((error: unknown) => {
      if (isStatusError(error, 'NotFound')) return undefined;
      throw error;
    });
  const config = secret?.data?.['.dockerconfigjson'];
  // The same words for one that is somebody else's: its name is not for strangers to find out.
  if (secret?.metadata?.labels?.[PULL_SECRET_LABEL] !== spec.publisher || config === undefined) {
    throw new RegistryError(
      `there is no pull Secret "${name}" in ${PLATFORM_NAMESPACE} with the label ${PULL_SECRET_LABEL}=${spec.publisher}; the platform makes it with \`kubectl create secret docker-registry\``,
    );
  }
  return credentialsFromDockerConfig(Buffer.from(config, 'base64').toString('utf8'), 'dockerconfigjson');
}
