import type { Client } from '../../../../client/client.ts';
import { CustomResourceDefinition } from '../../../../client/kinds.ts';
import { isStatusError } from '../../../../kube/status.ts';
import type { SharedInformers } from '../../../../runtime/informer/shared-informers.ts';
import { definitionOf, DRAINED_KINDS } from './drained-kinds.ts';

/** No watch wakes those who wait for a drain: watching each kind for it would cost more than asking while it lasts. */
export const DRAIN_AGAIN_MS = 500;

/**
 * Deletes in these namespaces what has to go before they do. To be called again until it is done. @returns what is still there, as
 * `<kind>s <namespace>/<name>`; nothing when the namespaces can go
 */
export async function drainNamespaces(client: Client, informers: SharedInformers, namespaces: readonly string[]): Promise<string[]> {
  const definitions = informers.get(CustomResourceDefinition, { metadataOnly: true });
  const served = DRAINED_KINDS.filter((kind) => definitions.get(definitionOf(kind)) !== undefined);
  const remaining: string[] = [];
  for (const kind of served) {
    for (const namespace of namespaces) {
      try {
        await client.resource(kind, namespace).deleteCollection();
        const { items } = await client.metadata(kind, namespace).list({ limit: 100 });
        for (const { metadata } of items) remaining.push(`${kind.plural} ${namespace}/${metadata.name}`);
      } catch (error) {
        // The definition went in between, or is there but serves another version: nobody serves finalizers of these either.
        if (!isStatusError(error, 'NotFound')) throw error;
      }
    }
  }
  return remaining;
}
