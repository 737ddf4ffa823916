import { GROUP } from '../../../../api/hnc.x-k8s.io/v1alpha2/group.ts';
import type { HncConfiguration } from '../../../../api/hnc.x-k8s.io/v1alpha2/hnc-configuration.ts';
import { CONFIG_NAME, HIERARCHY_NAME } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import type { FieldError } from '../../../../kube/field-error.ts';
import { compareText, quote } from '../../../../kube/go-text.ts';
import { apiVersionOf, type Kind } from '../../../../kube/kind.ts';
import { qualifiedResource } from '../../../../kube/object.ts';
import { conflictError, forbiddenError, invalidError } from '../../../../kube/status.ts';
import type { AdmissionHandler } from '../../../../runtime/admission/review.ts';
import { nextTurn } from '../../../../runtime/informer/reflector.ts';
import { findIn, problemText, resolveEntries, type ConfiguredType, type ResolvedEntry } from '../../propagation/model/configured-types.ts';
import { propagates } from '../../propagation/model/goes-to.ts';
import { ListedObjects, printKind, type ObjectsOfType } from '../../propagation/model/objects-of-type.ts';
import { overwrittenInTree, type Overwrite } from '../../propagation/model/overwrites.ts';
import { DEFAULT_PROPAGATION_SETTINGS } from '../../propagation/model/propagation-settings.ts';
import { isOwnController } from '../platform-users.ts';
import type { ObjectsReview } from './objects.ts';

const PER_TURN = 200;
const RESOURCE = { group: GROUP, resource: 'hncconfigurations' };

/** A configuration names types that exist, each once, and starts to propagate none whose copies would replace what somebody made. */
export function configurationHandler({ client, types, forest }: ObjectsReview): AdmissionHandler {
  async function checkOverwrites(type: ConfiguredType, signal: AbortSignal): Promise<void> {
    const { kind, mode } = type;
    const live = types.find(kind.group, kind.plural);
    if (!propagates(mode) || (live && propagates(live.mode))) return;
    const wanted = { kind, mode, objects: live?.objects ?? (await everythingOf(kind, signal)) };
    const found: Overwrite[] = [];
    for (const names of slices([...forest.names()])) {
      found.push(...overwrittenInTree(wanted, names, forest, DEFAULT_PROPAGATION_SETTINGS));
      await nextTurn();
    }
    if (found.length === 0) return;
    found.sort((a, b) => compareText(a.object.metadata.namespace!, b.object.metadata.namespace!));
    const lines = found.map(
      ({ object, by }) =>
        `  Object ${quote(object.metadata.name!)} in namespace ${quote(by.metadata.namespace!)} would overwrite the one in ${quote(object.metadata.namespace!)}`,
    );
    const first = `Cannot update configuration because setting type ${quote(printKind(kind))} to 'Propagate' mode or 'AllowPropagate' mode would overwrite user-created object(s):`;
    const last = 'To fix this, please rename or remove the conflicting objects first.';
    // HNC names it so, and its refusals are kept to the letter.
    throw conflictError(RESOURCE, HIERARCHY_NAME, [first, ...lines, last].join('\n'));
  }

  async function everythingOf(kind: Kind, signal: AbortSignal): Promise<ObjectsOfType> {
    const { items } = await client.resource(kind).listAll({ signal });
    const listed = new ListedObjects();
    for (const some of slices(items)) {
      // Items of a list do not say what they are.
      for (const item of some) listed.add({ ...item, apiVersion: apiVersionOf(kind), kind: kind.kind });
      await nextTurn();
    }
    return listed;
  }

  return async ({ operation, name, userInfo, object }, signal) => {
    if (isOwnController(userInfo)) return { allowed: true };
    if (operation === 'DELETE') {
      if (name !== CONFIG_NAME) return { allowed: true };
      throw forbiddenError(RESOURCE, CONFIG_NAME, "deleting the 'config' object is forbidden");
    }
    const entries = (object as HncConfiguration | undefined)?.spec?.resources ?? [];
    if (entries.length === 0) return { allowed: true };
    const { resources } = await client.discovery.resources({ signal });
    const resolved = resolveEntries(entries, findIn(resources));
    const errors = resolved.flatMap(entryErrors);
    if (errors.length > 0) throw invalidError({ group: GROUP, kind: 'HNCConfiguration' }, CONFIG_NAME, errors);
    for (const { type } of resolved) if (type) await checkOverwrites(type, signal);
    return { allowed: true };
  };
}

function entryErrors(resolved: ResolvedEntry, index: number): FieldError[] {
  const { group = '', resource } = resolved.entry;
  const field = `spec.resources[${index}]`;
  const named = qualifiedResource({ group, resource });
  return resolved.problems.map((problem): FieldError => {
    if (problem === 'Duplicate') return { type: 'FieldValueDuplicate', field, message: `Duplicate value: ${named}` };
    const detail = problem === 'Enforced' ? "always uses the 'Propagate' mode and cannot be configured" : problemText(resolved, problem);
    return { type: 'FieldValueInvalid', field, message: `Invalid value: ${named}: ${detail}` };
  });
}

/** As many as one turn of the event loop can look at. */
function* slices<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let i = 0; i < items.length; i += PER_TURN) yield items.slice(i, i + PER_TURN);
}
