import type { Client } from '../../../client/client.ts';
import type { AdmissionHandler } from '../../../runtime/admission/review.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { pluginPodsHandler } from './plugin-pods.handler.ts';
import { PLUGIN_PODS_RULE, PLUGIN_VERSIONS_RULE } from './plugin-rules.ts';
import { pluginVersionsHandler } from './plugin-versions.handler.ts';

/** What decides, by path. */
export async function pluginHandlers(client: Client, informers: SharedInformers): Promise<Record<string, AdmissionHandler>> {
  return {
    [PLUGIN_PODS_RULE.path]: await pluginPodsHandler(client, informers),
    [PLUGIN_VERSIONS_RULE.path]: pluginVersionsHandler(client),
  };
}
