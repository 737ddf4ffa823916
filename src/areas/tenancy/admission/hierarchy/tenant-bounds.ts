import { MANAGED_BY, SUBNAMESPACE_OF } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import {
  childNamespaceOf,
  RETAINED_ANNOTATION,
  ROLE_LABEL,
  systemNamespaceOf,
  TENANT_LABEL,
} from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import type { ObjectMeta } from '../../../../kube/object.ts';
import type { ReadonlyForest } from '../../forest/forest.ts';
import type { TreeNamespace } from '../../forest/tree-namespace.ts';

/**
 * What keeps a tenant's owners inside their tree, and everybody else out of it. Each rule returns why it refuses. HNC has none of these:
 * where no Tenant is, they say nothing.
 */

/** Each namespace carries a label for every one above it, and each of them is looked at in all that is decided about it. */
const MAX_LEVELS = 30;

const PLATFORM_KEY = /(^|\.)tenantry\.dev\//;

/** An anchor in a tenant's namespace. */
export function anchorOutOfBounds(forest: ReadonlyForest, parentName: string, name: string, platform: boolean): string | undefined {
  const parent = forest.get(parentName);
  const tenant = parent?.tenant;
  // Whoever had rights in a tenant must not make namespaces without its bounds once it is gone.
  if (tenant === undefined && parent?.annotations[RETAINED_ANNOTATION] !== undefined && !platform)
    return `namespace "${parent.name}" was kept from a tenant that is gone, and only the platform makes namespaces below it`;
  if (!parent || tenant === undefined) return undefined;
  if (parent.role !== undefined && !platform) return platformsOwn(parent.name);
  if (!name.startsWith(`${tenant}--`) || name === `${tenant}--`)
    return `namespaces of tenant "${tenant}" are named "${tenant}--<name>"; use "${childNamespaceOf(tenant, name)}"`;
  if (name === systemNamespaceOf(tenant) && !platform)
    return `"${name}" is the platform's namespace of tenant "${tenant}"; choose another name`;
  if (!platform && forest.ancestors(parentName).length + 1 >= MAX_LEVELS)
    return `the tree of a tenant is at most ${MAX_LEVELS} levels deep`;
  return undefined;
}

/** A namespace that gets another parent, or none. */
export function moveOutOfBounds(forest: ReadonlyForest, name: string, parent: string | undefined, platform: boolean): string | undefined {
  const namespace = forest.get(name);
  const from = namespace?.tenant;
  if (from === name && parent) return `namespace "${name}" is the root of a tenant and cannot have a parent`;
  const to = parent ? forest.get(parent)?.tenant : undefined;
  if (platform || (namespace?.parent ?? '') === (parent ?? '')) return undefined;
  if (namespace?.role !== undefined) return platformsOwn(name);
  if (from === to) return undefined;
  // Whose the other tree is, and whether it exists at all, is nobody's business who is inside this one.
  return `only the platform moves a namespace ${from === undefined ? 'into' : 'out of'} the tree of tenant "${from ?? to}"`;
}

/** Any write to the place of a namespace that is the platform's. */
export function placeOutOfBounds(namespace: TreeNamespace | undefined, platform: boolean): string | undefined {
  return namespace?.role !== undefined && !platform ? platformsOwn(namespace.name) : undefined;
}

/** A namespace that is created or changed by somebody who is not the platform. */
export function namespaceOutOfBounds(forest: ReadonlyForest, next: ObjectMeta, previous: ObjectMeta | undefined): string | undefined {
  const namespace = forest.get(next.name!);
  // The object that is changed says it too, from its first moment on.
  if (namespace?.role !== undefined || previous?.labels?.[ROLE_LABEL] !== undefined) return platformsOwn(next.name!);
  for (const field of ['labels', 'annotations'] as const) {
    const changed = changedKeys(previous?.[field], next[field]).find((key) => PLATFORM_KEY.test(key));
    if (changed) return `${field.slice(0, -1)} "${changed}" can only be set by the platform`;
  }
  const parent = next.annotations?.[SUBNAMESPACE_OF];
  const moved = changedKeys(previous?.annotations, next.annotations).find((key) => key === SUBNAMESPACE_OF || key === MANAGED_BY);
  const tenant = namespace?.tenant ?? (parent ? forest.get(parent)?.tenant : undefined);
  if (moved !== undefined && tenant !== undefined)
    return `annotation "${moved}" of a namespace of tenant "${tenant}" can only be set by the platform`;
  return undefined;
}

/** A namespace that is deleted by somebody who is not the platform. */
export function deletionOutOfBounds({ name = '', labels = {} }: ObjectMeta): string | undefined {
  if (labels[ROLE_LABEL] !== undefined) return platformsOwn(name);
  return labels[TENANT_LABEL] === name ? `namespace "${name}" is the root of a tenant; delete the Tenant instead` : undefined;
}

function platformsOwn(name: string): string {
  return `namespace "${name}" belongs to the platform, and only the platform changes it`;
}

function changedKeys(before: Record<string, string> = {}, after: Record<string, string> = {}): string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].filter((key) => before[key] !== after[key]);
}
