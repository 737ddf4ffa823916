import type { Client } from '../../client/client.ts';
import { Deployment, NetworkPolicy, PodDisruptionBudget, Role, RoleBinding, ServiceAccount } from '../../client/kinds.ts';
import type { Kind } from '../../kube/kind.ts';
import type { KubeObject } from '../../kube/object.ts';

const KINDS: Record<string, Kind> = { Deployment, NetworkPolicy, PodDisruptionBudget, Role, RoleBinding, ServiceAccount };

/** Server-side apply: what is already so is not written again, and what others set stays. */
export async function applyObject(client: Client, object: KubeObject, fieldManager: string): Promise<void> {
  const kind = KINDS[object.kind];
  if (kind === undefined) throw new Error(`Cannot apply a ${object.kind}: it is not one of ${Object.keys(KINDS).join(', ')}`);
  await client.resource(kind, object.metadata.namespace).apply(object, { fieldManager, force: true });
}
