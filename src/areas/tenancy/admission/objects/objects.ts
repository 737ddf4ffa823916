import { INHERITED_FROM } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import type { Client } from '../../../../client/client.ts';
import { Namespace } from '../../../../client/kinds.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { badRequestError, conflictError, forbiddenError, isStatusError, type StatusError } from '../../../../kube/status.ts';
import type { AdmissionHandler, AdmissionReviewRequest } from '../../../../runtime/admission/review.ts';
import type { ReadonlyForest } from '../../forest/forest.ts';
import { whyUnmanaged } from '../../forest/tree-settings.ts';
import { sameButStatus } from '../../propagation/model/canonical-copy.ts';
import { propagates } from '../../propagation/model/goes-to.ts';
import type { PropagatedType } from '../../propagation/model/objects-of-type.ts';
import { overwrittenBy } from '../../propagation/model/overwrites.ts';
import { DEFAULT_PROPAGATION_SETTINGS } from '../../propagation/model/propagation-settings.ts';
import { isOwnController } from '../platform-users.ts';
import { annotationProblem } from './source-annotations.ts';

/** What the rules on objects know. */
export interface ObjectsReview {
  client: Client;
  forest: ReadonlyForest;
  types: { find(group: string, plural: string): PropagatedType | undefined };
}

/** Sources say what can be obeyed and overwrite nobody's objects; copies are written by the platform alone. */
export function objectsHandler({ client, types, forest }: ObjectsReview): AdmissionHandler {
  async function isGoing(namespace: string): Promise<boolean> {
    const known = forest.get(namespace);
    if (known?.terminating) return true;
    // A refusal here would keep a namespace from ending, so the server itself is asked before.
    try {
      const { metadata } = await client.resource(Namespace).get(namespace);
      return metadata.deletionTimestamp !== undefined;
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return true;
      throw error;
    }
  }

  return async (request) => {
    const { resource, namespace = '', userInfo, object, oldObject } = request;
    const type = types.find(resource.group, resource.resource);
    if (!type || !propagates(type.mode) || whyUnmanaged(forest.settings, namespace) !== undefined) return { allowed: true };
    if (isOwnController(userInfo)) return { allowed: true };
    const wasCopy = sourceOf(oldObject) !== undefined;
    if (!wasCopy && sourceOf(object) === undefined) {
      const refusal = object ? sourceRefusal(request, object, type, forest) : undefined;
      if (refusal) throw refusal;
      return { allowed: true };
    }
    if (request.operation === 'DELETE' && (await isGoing(namespace))) return { allowed: true };
    const refusal = copyRefusal(request);
    if (refusal) throw refusal;
    return { allowed: true };
  };
}

function sourceRefusal(
  request: AdmissionReviewRequest,
  object: KubeObject,
  type: PropagatedType,
  forest: ReadonlyForest,
): StatusError | undefined {
  const problem = annotationProblem(request.oldObject?.metadata.annotations ?? {}, object.metadata.annotations ?? {});
  if (problem !== undefined) return badRequestError(problem);
  const overwritten = overwrittenBy(object, type, forest, DEFAULT_PROPAGATION_SETTINGS);
  if (overwritten.length === 0) return undefined;
  const message = `would overwrite objects in the following descendant namespace(s): ${overwritten.join(',')}. To fix this, choose a different name for the object, or remove the conflicting objects from the listed namespaces`;
  return conflictError(request.resource, nameOf(request), message);
}

function copyRefusal(request: AdmissionReviewRequest): StatusError | undefined {
  const { operation, resource, object, oldObject } = request;
  const refuse = (why: string): StatusError => forbiddenError(resource, nameOf(request), why);
  const source = sourceOf(oldObject);
  if (operation === 'CREATE') return refuse(`cannot create objects with the label "${INHERITED_FROM}"`);
  if (operation === 'DELETE') return refuse(`cannot delete object propagated from namespace "${source}"`);
  if (sourceOf(object) !== source) return refuse(`cannot modify the label "${INHERITED_FROM}"`);
  return sameButStatus(oldObject!, object!) ? undefined : refuse(`cannot modify object propagated from namespace "${source}"`);
}

function sourceOf(object: KubeObject | null | undefined): string | undefined {
  return object?.metadata.labels?.[INHERITED_FROM];
}

/** As HNC names objects: those that are deleted have no new state, and so no name. */
function nameOf({ object }: AdmissionReviewRequest): string {
  return `${object?.metadata.namespace ?? ''}/${object?.metadata.name ?? ''}`;
}
