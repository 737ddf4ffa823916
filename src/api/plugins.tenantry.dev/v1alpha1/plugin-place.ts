import type { PluginManifest } from '../../adapstory.com/v1/plugin-manifest.ts';

/**
 * Why a plugin stays on the host when its tenant lives in a cluster; undefined: it can follow. The network of the cluster does not reach
 * the platform's backends, and its administrators read every Secret in it: those of others must not be there.
 */
export function whyOnHost({ spec }: PluginManifest): string | undefined {
  const { database, events, egress, runtime } = spec;
  if (database !== undefined) return 'its database is the platform’s, which the network of the cluster does not reach';
  if ((events?.consumes ?? []).length + (events?.produces ?? []).length > 0)
    return 'its events are at the platform’s broker, which the network of the cluster does not reach';
  const parts = egress?.to ?? [];
  if (parts.length > 0) return `it calls ${parts.join(', ')} of the platform, which the network of the cluster does not reach`;
  if (runtime.imagePullSecret !== undefined)
    return 'its image is pulled with a Secret of its publisher, which administrators of the cluster would read';
  return undefined;
}
