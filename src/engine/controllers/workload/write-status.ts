import type { Client } from '../../../client/client.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import type { Kind } from '../../../kube/kind.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';

/** Writes the status if it differs. @returns the object as it is then; the one given when it is gone. */
export async function writeStatus(client: Client, kind: Kind, object: KubeObject, status: Json): Promise<KubeObject> {
  const next = withoutUndefined(status);
  if (deepEqual(object.status ?? {}, next)) return object;
  try {
    return await client
      .resource<KubeObject>(kind, object.metadata.namespace)
      .status.update(object.metadata.name!, { ...object, status: next });
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return object;
    throw error;
  }
}

function withoutUndefined(status: Json): Json {
  return Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined));
}
