import type { Client } from '../../../client/client.ts';
import { ConfigMap, RoleBinding, Secret } from '../../../client/kinds.ts';
import type { Kind } from '../../../kube/kind.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { copyOf } from './model/canonical-copy.ts';
import { typeId } from './model/configured-types.ts';
import type { CopyDecision } from './model/decide-copy.ts';
import type { PropagationSettings } from './model/propagation-settings.ts';

/** Nothing is owned by these, so that they can be made anew where they cannot be changed: a roleRef, an immutable ConfigMap. */
const REMADE = new Set([RoleBinding, ConfigMap, Secret].map(typeId));

export interface CopyWriter {
  /** @returns false when the state has moved on and somebody will look again */
  write(kind: Kind, namespace: string, decision: CopyDecision): Promise<boolean>;
}

export function copyWriter(client: Client, settings: PropagationSettings, fieldManager: string): CopyWriter {
  async function update(kind: Kind, namespace: string, source: KubeObject, existing: KubeObject): Promise<void> {
    const resource = client.resource(kind, namespace);
    try {
      await resource.update(copyOf(source, namespace, existing, settings), { fieldManager });
    } catch (error) {
      if (!isStatusError(error, 'Invalid') || !REMADE.has(typeId(kind))) throw error;
      await resource.delete(existing.metadata.name!, { preconditions: { uid: existing.metadata.uid } });
      await resource.create(copyOf(source, namespace, undefined, settings), { fieldManager });
    }
  }

  async function act(kind: Kind, namespace: string, decision: CopyDecision): Promise<void> {
    switch (decision.action) {
      case 'nothing':
        return;
      case 'create':
        await client.resource(kind, namespace).create(copyOf(decision.source, namespace, undefined, settings), { fieldManager });
        return;
      case 'update':
        await update(kind, namespace, decision.source, decision.existing);
        return;
      case 'delete': {
        // Only what was looked at: an object that is no copy any more must stay.
        const { name, uid, resourceVersion } = decision.existing.metadata;
        await client.resource(kind, namespace).delete(name!, { preconditions: { uid, resourceVersion } });
        return;
      }
      default: {
        const impossible: never = decision;
        throw new Error(`Cannot write a copy by "${String(impossible)}": there is no such action`);
      }
    }
  }

  return {
    async write(kind, namespace, decision) {
      try {
        await act(kind, namespace, decision);
        return true;
      } catch (error) {
        if (isOvertaken(error)) return false;
        throw error;
      }
    },
  };
}

/** The object or its namespace came, changed or went meanwhile; a watch will say so. */
function isOvertaken(error: unknown): boolean {
  if (!isStatusError(error)) return false;
  if (error.reason === 'NotFound' || error.reason === 'AlreadyExists') return true;
  return error.reason === 'Forbidden' && (error.status.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating');
}
