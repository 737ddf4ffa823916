import type { Client } from '../../../../client/client.ts';
import { isDns1123Label } from '../../../../kube/names.ts';
import { invalid } from '../../../../kube/field-error.ts';
import { invalidError } from '../../../../kube/status.ts';
import type { AdmissionHandler, AdmissionReviewRequest, AdmissionVerdict } from '../../../../runtime/admission/review.ts';
import type { ReadonlyForest } from '../../forest/forest.ts';
import { whyUnmanaged } from '../../forest/tree-settings.ts';
import { isPlatform } from '../platform-users.ts';
import { managedMetadataErrors } from './managed-metadata.ts';
import { ALLOWED, ANCHORS, conflict, forbidden, isTreeItself, notYetSynced, refused } from './refusal.ts';
import { anchorOutOfBounds, placeOutOfBounds } from './tenant-bounds.ts';
import { untilKnown } from './until-known.ts';

const KIND = { group: ANCHORS.group, kind: 'SubnamespaceAnchor' };

/** Anchors: what may be asked for as a subnamespace, and when it may go. */
export function anchorHandler({ forest, client }: { forest: ReadonlyForest; client: Client }): AdmissionHandler {
  return (request, signal) => {
    if (isTreeItself(request.userInfo)) return ALLOWED;
    const { namespace: parent = '' } = request;
    if (forest.get(parent)) return decide(forest, request);
    // Whose namespace it is must be known before anything is let into it.
    return untilKnown(forest, client, [parent], signal).then(() => (forest.get(parent) ? decide(forest, request) : notYetSynced(parent)));
  };
}

function decide(forest: ReadonlyForest, request: AdmissionReviewRequest): AdmissionVerdict {
  const { operation, object, oldObject, userInfo, namespace: parent = '' } = request;
  const anchor = (operation === 'DELETE' ? oldObject : object)!;
  const name = anchor.metadata.name!;
  if (operation !== 'DELETE') {
    const wrong = isDns1123Label(name);
    if (wrong.length > 0)
      return refused(invalidError(KIND, name, [invalid('metadata.name', name, `not a valid namespace name: ${wrong.join('; ')}`)]));
  }
  const errors = managedMetadataErrors(anchor.spec, forest.settings);
  if (errors.length > 0) return refused(invalidError(KIND, name, errors));
  const platform = isPlatform(userInfo);
  if (operation === 'CREATE') {
    const why = anchorOutOfBounds(forest, parent, name, platform);
    return why === undefined ? mayCreate(forest, parent, name) : forbidden(ANCHORS, name, why);
  }
  const why = placeOutOfBounds(forest.get(parent), platform);
  if (why !== undefined) return forbidden(ANCHORS, name, why);
  return operation === 'DELETE' ? mayDelete(forest, name, anchor.status?.status) : ALLOWED;
}

function mayCreate(forest: ReadonlyForest, parent: string, name: string): AdmissionVerdict {
  const parentUnmanaged = whyUnmanaged(forest.settings, parent);
  if (parentUnmanaged !== undefined)
    return forbidden(ANCHORS, parent, `cannot create a subnamespace in the unmanaged namespace "${parent}" (${parentUnmanaged})`);
  const nameUnmanaged = whyUnmanaged(forest.settings, name);
  if (nameUnmanaged !== undefined)
    return forbidden(ANCHORS, name, `cannot create a subnamespace using the unmanaged namespace name "${name}" (${nameUnmanaged})`);
  const existing = forest.get(name);
  const lostItsAnchor = existing?.isSub && existing.parent === parent;
  return existing && !lostItsAnchor ? conflict(ANCHORS, name, 'cannot create a subnamespace using an existing namespace') : ALLOWED;
}

function mayDelete(forest: ReadonlyForest, name: string, state: string | undefined): AdmissionVerdict {
  const isLeaf = (forest.get(name)?.children.length ?? 0) === 0;
  if (state !== 'Ok' || isLeaf || forest.allowsCascadingDeletion(name)) return ALLOWED;
  const why = `subnamespace ${name} is not a leaf and doesn't allow cascading deletion. Please set allowCascadingDeletion flag or make it a leaf first`;
  return forbidden(ANCHORS, name, why);
}
