import type { HncConfiguration, PropagationMode } from '../../../../api/hnc.x-k8s.io/v1alpha2/hnc-configuration.ts';
import { GROUP as TREE_GROUP } from '../../../../api/hnc.x-k8s.io/v1alpha2/group.ts';
import type { DiscoveredResource } from '../../../../client/discovery.ts';
import { Role, RoleBinding } from '../../../../client/kinds.ts';
import { quote } from '../../../../kube/go-text.ts';
import type { Kind } from '../../../../kube/kind.ts';
import { qualifiedResource, type GroupResource } from '../../../../kube/object.ts';
import { modeOf } from './goes-to.ts';

export type ResourceEntry = NonNullable<HncConfiguration['spec']['resources']>[number];

/** A type that the configuration names, or that is always propagated. Group and resource are as they were written. */
export interface ConfiguredType extends GroupResource {
  kind: Kind;
  mode: PropagationMode;
}

export type EntryProblem = 'Enforced' | 'Duplicate' | 'NotFound' | 'NotNamespaced' | 'OfTheTree';

/** What became of one entry of `spec.resources`. */
export interface ResolvedEntry {
  entry: ResourceEntry;
  type?: ConfiguredType;
  problems: EntryProblem[];
  /** For a duplicate: the type that was configured first. */
  first?: ConfiguredType;
}

/** Finds the type that a name means; undefined when nobody serves it. */
export type FindResource = (resource: GroupResource) => Kind | undefined;

const RBAC = Role.group;

/** Rights are always passed on: the tree stands for who may do what. */
export const ENFORCED_TYPES: readonly ConfiguredType[] = [
  { group: RBAC, resource: 'rolebindings', kind: RoleBinding, mode: 'Propagate' },
  { group: RBAC, resource: 'roles', kind: Role, mode: 'Propagate' },
];

export function resolveEntries(entries: readonly ResourceEntry[], find: FindResource): ResolvedEntry[] {
  const known = new Map(ENFORCED_TYPES.map((type) => [typeId(type.kind), type]));
  return entries.map((entry) => {
    const { group = '', resource } = entry;
    const enforced = ENFORCED_TYPES.some((type) => type.group === group && type.resource === resource);
    const kind = find({ group, resource });
    if (!kind) return { entry, problems: enforced ? ['Enforced', 'NotFound'] : ['NotFound'] };
    if (!kind.namespaced) return { entry, problems: ['NotNamespaced'] };
    const first = known.get(typeId(kind));
    if (first) return { entry, first, problems: enforced ? ['Enforced'] : ['Duplicate'] };
    const type: ConfiguredType = { group, resource, kind, mode: modeOf(entry.mode) };
    if (kind.group === TREE_GROUP) return { entry, problems: ['OfTheTree'] };
    known.set(typeId(kind), type);
    return { entry, type, problems: [] };
  });
}

/** All types in force, sorted as the status shows them. */
export function typesInForce(entries: readonly ResolvedEntry[]): ConfiguredType[] {
  const types = [...ENFORCED_TYPES, ...entries.flatMap(({ type }) => type ?? [])];
  return types.sort((a, b) => (a.group === b.group ? compare(a.resource, b.resource) : compare(a.group, b.group)));
}

/** Independent of the version, which the server may change its mind about. */
export function typeId({ group, plural }: Pick<Kind, 'group' | 'plural'>): string {
  return qualifiedResource({ group, resource: plural });
}

/**
 * As Kubernetes' own mapper reads a name: plural or singular; without a group the core one is looked at first, then any that has
 * it. Of several versions the server's preferred one.
 */
export function findIn(resources: readonly DiscoveredResource[]): FindResource {
  return ({ group, resource }) => {
    const name = resource.toLowerCase();
    const named = resources.filter(({ preferred, plural, singular }) => preferred && (plural === name || singular === name));
    return named.find((candidate) => candidate.group === group) ?? (group === '' ? named[0] : undefined);
  };
}

export function problemText({ entry, first }: ResolvedEntry, problem: EntryProblem): string {
  const { group = '', resource, mode = '' } = entry;
  const named = quote(qualifiedResource({ group, resource }));
  switch (problem) {
    case 'Enforced':
      return `The sync mode for ${named} is enforced by HNC as "Propagate" and cannot be overridden`;
    case 'Duplicate':
      return `Multiple sync mode settings found for ${named}; all but one (${quote(first?.mode ?? mode)}) will be ignored`;
    case 'NotFound':
      return `no matches for ${group}/, Resource=${resource}`;
    case 'NotNamespaced':
      return `resource ${named} is not namespaced`;
    case 'OfTheTree':
      return `objects of ${TREE_GROUP} make the tree and cannot be copied down in it`;
    default: {
      const impossible: never = problem;
      throw new Error(`Cannot describe the problem "${String(impossible)}": it does not exist`);
    }
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
