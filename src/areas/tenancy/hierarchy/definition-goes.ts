import type { Client } from '../../../client/client.ts';
import { CustomResourceDefinition } from '../../../client/kinds.ts';
import type { Kind } from '../../../kube/kind.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { definitionOf } from './drain/drained-kinds.ts';

/**
 * Whether objects of a kind go because their definition does, which is no wish about namespaces. Asked of the API server itself: a
 * watch that is a moment behind could cost a whole tree.
 */
export async function definitionGoes<T extends KubeObject>(client: Client, kind: Kind<T>): Promise<boolean> {
  try {
    const { metadata } = await client.metadata(CustomResourceDefinition).get(definitionOf(kind));
    return metadata.deletionTimestamp !== undefined;
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return true;
    throw error;
  }
}
