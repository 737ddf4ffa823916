import { PLATFORM_NAMESPACE, TOKEN_JWKS } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { ConfigMap } from '../../../client/kinds.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';

/** The keys that verify the tokens of plugins, as they are published now. */
export function publishedKeys(informers: SharedInformers): () => string | undefined {
  const found = informers.get(ConfigMap, { namespace: PLATFORM_NAMESPACE, fieldSelector: `metadata.name=${TOKEN_JWKS}` });
  return () => found.find(PLATFORM_NAMESPACE, TOKEN_JWKS)?.data?.['jwks.json'];
}
