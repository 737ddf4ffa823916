import type { Client } from '../../../../client/client.ts';
import { Namespace, SubjectAccessReview } from '../../../../client/kinds.ts';
import { invalidError, isStatusError } from '../../../../kube/status.ts';
import type { AdmissionHandler, AdmissionReviewRequest, AdmissionVerdict } from '../../../../runtime/admission/review.ts';
import type { ReadonlyForest } from '../../forest/forest.ts';
import { whyUnmanaged } from '../../forest/tree-settings.ts';
import { isPlatform, type UserInfo } from '../platform-users.ts';
import { untilKnown } from './until-known.ts';
import { managedMetadataErrors } from './managed-metadata.ts';
import { moveChecks, whyNotParent, type MoveCheck } from './move-checks.ts';
import { ALLOWED, conflict, forbidden, HIERARCHIES, isTreeItself, notYetSynced, refused, unauthorized } from './refusal.ts';
import { moveOutOfBounds, placeOutOfBounds } from './tenant-bounds.ts';

const KIND = { group: HIERARCHIES.group, kind: 'HierarchyConfiguration' };
const NAME = 'hierarchy';

export interface HierarchyRules {
  forest: ReadonlyForest;
  client: Client;
  /** Objects, as `Namespace "d": <name> (<GVK>)`, that copies from the new ancestors would replace. */
  overwrittenByMove(namespace: string, parent: string): readonly string[];
}

/** HierarchyConfigurations: who may put which namespace where. */
export function hierarchyHandler(rules: HierarchyRules): AdmissionHandler {
  const { forest, client } = rules;
  return async (request, signal) => {
    const { operation, object, oldObject, userInfo } = request;
    if (isTreeItself(userInfo)) return ALLOWED;
    const { namespace: name = '' } = (object ?? oldObject)!.metadata;
    const platform = isPlatform(userInfo);
    if (operation === 'DELETE') return mayDelete(forest, name, platform);
    const parent: string | undefined = object!.spec?.parent || undefined;
    const ill = illFormed(forest, request, name, parent);
    if (ill) return ill;
    // The API server has the namespace, or this would not have been asked; the watch may be a moment behind.
    await untilKnown(forest, client, [name, ...(parent ? [parent] : [])], signal);
    if (!forest.get(name)) return notYetSynced(name);
    const verdict = checkTenant(forest, name, parent, platform) ?? checkTree(rules, name, parent);
    if (verdict) return verdict;
    for (const check of moveChecks(forest, forest.get(name)?.parent, parent)) {
      const refusal = await ask(client, check, userInfo, signal);
      if (refusal) return refusal;
    }
    return ALLOWED;
  };
}

function illFormed(
  forest: ReadonlyForest,
  { object }: AdmissionReviewRequest,
  name: string,
  parent: string | undefined,
): AdmissionVerdict | undefined {
  const own = whyUnmanaged(forest.settings, name);
  if (own !== undefined)
    return forbidden(
      HIERARCHIES,
      NAME,
      `namespace "${name}" is not managed by HNC (${own}) and cannot be set as a child of another namespace`,
    );
  const above = whyUnmanaged(forest.settings, parent);
  if (above !== undefined)
    return forbidden(
      HIERARCHIES,
      NAME,
      `namespace "${parent}" is not managed by HNC (${above}) and cannot be set as the parent of another namespace`,
    );
  const errors = managedMetadataErrors(object!.spec, forest.settings);
  return errors.length > 0 ? refused(invalidError(KIND, object!.metadata.name!, errors)) : undefined;
}

/** Whether the tree would still be one. */
function checkTree({ forest, overwrittenByMove }: HierarchyRules, name: string, parent: string | undefined): AdmissionVerdict | undefined {
  const namespace = forest.get(name)!;
  const halted = forest.haltedRoot(name);
  if (halted !== undefined && halted !== name)
    return forbidden(
      HIERARCHIES,
      NAME,
      `ancestor "${halted}" of namespace "${name}" has a critical condition, which must be resolved before any changes can be made to the hierarchy configuration`,
    );
  const { externalManager, isSub } = namespace;
  if (externalManager !== undefined && parent !== undefined)
    return forbidden(
      HIERARCHIES,
      NAME,
      `namespace "${name}" is managed by "${externalManager}", not HNC, so it cannot have a parent in HNC`,
    );
  if (namespace.parent === parent) return undefined;
  if (isSub)
    return conflict(
      HIERARCHIES,
      NAME,
      `illegal parent: Cannot set the parent of "${name}" to "${parent ?? '<none>'}" because it's a subnamespace of "${namespace.parent ?? '<none>'}"`,
    );
  if (parent === undefined) return undefined;
  if (!forest.get(parent)) return forbidden(HIERARCHIES, NAME, `requested parent "${parent}" does not exist`);
  const wrong = whyNotParent(forest, name, parent);
  if (wrong !== undefined) return conflict(HIERARCHIES, NAME, `illegal parent: ${wrong}`);
  const lost = overwrittenByMove(name, parent);
  if (lost.length === 0) return undefined;
  const lines = ['Cannot update hierarchy because it would overwrite the following object(s):', ...lost.map((line) => `  * ${line}`)];
  return conflict(HIERARCHIES, NAME, [...lines, 'To fix this, please rename or remove the conflicting objects first.'].join('\n'));
}

function checkTenant(forest: ReadonlyForest, name: string, parent: string | undefined, platform: boolean): AdmissionVerdict | undefined {
  const why = placeOutOfBounds(forest.get(name), platform) ?? moveOutOfBounds(forest, name, parent, platform);
  return why === undefined ? undefined : forbidden(HIERARCHIES, NAME, why);
}

/** A full namespace without its configuration is a root. */
function mayDelete(forest: ReadonlyForest, name: string, platform: boolean): AdmissionVerdict {
  const namespace = forest.get(name);
  if (!namespace || namespace.isSub || namespace.terminating) return ALLOWED;
  return checkTenant(forest, name, undefined, platform) ?? ALLOWED;
}

async function ask(client: Client, check: MoveCheck, user: UserInfo, signal: AbortSignal): Promise<AdmissionVerdict | undefined> {
  if (check.kind === 'missing') {
    const found = await client
      .resource(Namespace)
      .get(check.namespace, { signal })
      .catch((error: unknown) => {
        if (isStatusError(error, 'NotFound')) return undefined;
        throw error;
      });
    return found ? notYetSynced(check.namespace) : undefined;
  }
  const { username, groups, uid, extra } = user;
  const resourceAttributes = {
    namespace: check.namespace,
    verb: 'update',
    group: HIERARCHIES.group,
    version: '*',
    resource: HIERARCHIES.resource,
  };
  const spec = { resourceAttributes, user: username, groups, uid, extra };
  const review = await client.resource(SubjectAccessReview).create({ metadata: {}, spec }, { signal });
  if (review.status?.allowed) return undefined;
  return unauthorized(`User ${username} is not authorized to modify the subtree of ${check.namespace}, which is the ${check.reason}`);
}
