import type { HncConfiguration } from '../../../../api/hnc.x-k8s.io/v1alpha2/hnc-configuration.ts';
import { compareText } from '../../../../kube/go-text.ts';
import { findCondition, type Condition } from '../../../../kube/conditions.ts';
import { formatTime } from '../../../../kube/time.ts';
import type { TreeCondition } from '../../forest/tree-namespace.ts';
import { problemText, type ConfiguredType, type EntryProblem, type ResolvedEntry } from './configured-types.ts';
import { propagates } from './goes-to.ts';

export type ConfigurationStatus = NonNullable<HncConfiguration['status']>;
type ResourceStatus = NonNullable<ConfigurationStatus['resources']>[number];
type NewCondition = Pick<Condition, 'type' | 'reason' | 'message'>;

/** Of one type, all over the trees. */
export interface TypeCounts {
  copies: number;
  sources: number;
}

export function resourceStatus({ group, resource, kind, mode }: ConfiguredType, counts: TypeCounts | undefined): ResourceStatus {
  return {
    group,
    version: kind.version,
    resource,
    mode,
    ...(counts && mode !== 'Ignore' ? { numPropagatedObjects: counts.copies } : {}),
    ...(counts && propagates(mode) ? { numSourceObjects: counts.sources } : {}),
  };
}

const REASONS: Record<EntryProblem, string> = {
  Enforced: 'MultipleConfigurationsForType',
  Duplicate: 'MultipleConfigurationsForType',
  NotFound: 'ResourceNotFound',
  NotNamespaced: 'ResourceNotNamespaced',
  OfTheTree: 'ResourceNotFound',
};

/** One condition for all that is wrong with the configuration: there is one of a type. */
export function badConfiguration(entries: readonly ResolvedEntry[]): NewCondition[] {
  const problems = entries.flatMap((entry) => entry.problems.slice(0, 1).map((problem) => ({ entry, problem })));
  if (problems.length === 0) return [];
  const message = problems.map(({ entry, problem }) => problemText(entry, problem)).join('; ');
  return [{ type: 'BadConfiguration', reason: REASONS[problems[0].problem], message }];
}

/** What is wrong with namespaces, in one condition: the worst kind is its reason. */
export function namespaceConditions(namespaces: Iterable<{ name: string; conditions: readonly TreeCondition[] }>): NewCondition[] {
  const affected = new Map<string, { type: string; reason: string; names: string[] }>();
  for (const { name, conditions } of namespaces) {
    for (const { type, reason } of conditions) {
      const id = `${type} ${reason}`;
      const group = affected.get(id) ?? { type, reason, names: [] };
      affected.set(id, group);
      group.names.push(name);
    }
  }
  if (affected.size === 0) return [];
  // ActivitiesHalted comes before BadConfiguration.
  const groups = [...affected.keys()].sort(compareText).map((id) => affected.get(id)!);
  const message = groups.map(({ reason, names }) => describeAffected(names, reason)).join('; ');
  return [{ type: 'NamespaceCondition', reason: groups[0].type, message }];
}

function describeAffected(names: string[], reason: string): string {
  const sorted = names.sort(compareText);
  if (sorted.length === 1) return `Namespaces "${sorted[0]}" is affected by "${reason}"`;
  const shown = sorted.slice(0, 3).map((name) => `"${name}"`);
  return `${sorted.length} namespaces ${shown.join(', ')}${sorted.length > 3 ? ' ...' : ''} are affected by "${reason}"`;
}

/** Conditions as they are stored: one that was there already keeps its time. */
export function timedConditions(wanted: readonly NewCondition[], before: readonly Condition[] | undefined, now: Date): Condition[] {
  return wanted.map(({ type, reason, message }) => {
    const lastTransitionTime = findCondition(before, type)?.lastTransitionTime ?? formatTime(now);
    return { type, status: 'True', reason, message, lastTransitionTime };
  });
}
