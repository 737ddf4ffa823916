import { secretPathOf } from '../../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { isSecretPlace } from '../../../../api/plugins.tenantry.dev/v1alpha1/secret-path.ts';
import { pluginNamespaceOf } from '../../installation/model/plugin-names.ts';
import { SECRETS_ACCOUNT } from './external-settings.ts';

export interface VaultMounts {
  /** Of the KV engine of version 2. */
  mount: string;
  /** Of the Kubernetes login. */
  authMount: string;
}

const MOUNT = /^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)*$/;

/** The commands that give a plugin of a tenant its role in Vault: it reads below its own path, and nothing else. */
export function vaultRole(plugin: string, tenant: string, { mount, authMount }: VaultMounts): string {
  // All of it is text for a shell and for a policy.
  if (!isSecretPlace({ plugin, tenant, path: 'x' }))
    throw new Error(`Cannot make a role for "${plugin}" of "${tenant}": these are no names`);
  for (const each of [mount, authMount]) if (!MOUNT.test(each)) throw new Error(`Cannot make a role: "${each}" is no mount of Vault`);
  const namespace = pluginNamespaceOf(tenant, plugin);
  return `vault policy write ${namespace} - <<'POLICY'
path "${mount}/data/${secretPathOf(plugin, tenant, '*')}" {
  capabilities = ["read"]
}
POLICY
vault write auth/${authMount}/role/${namespace} \\
  bound_service_account_names=${SECRETS_ACCOUNT} \\
  bound_service_account_namespaces=${namespace} \\
  token_policies=${namespace} token_no_default_policy=true token_ttl=10m
`;
}
