import type { Condition } from '../../../kube/conditions.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { formatTime } from '../../../kube/time.ts';

/** What one pass over a namespace's content found. */
export interface ContentFindings {
  /** Group/versions whose resources could not be discovered. */
  undiscovered: string[];
  failures: string[];
  /** Objects left, by `resource.group`. */
  remaining: Map<string, number>;
  /** Objects left, by finalizer. */
  finalizers: Map<string, number>;
}

type Finding = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

const FINE: readonly Omit<Finding, 'status'>[] = [
  { type: 'NamespaceDeletionDiscoveryFailure', reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    reason: 'ParsedGroupVersions',
    message: 'All legacy kube types successfully parsed',
  },
  {
    type: 'NamespaceDeletionContentFailure',
    reason: 'ContentDeleted',
    message: 'All content successfully deleted, may be waiting on finalization',
  },
  { type: 'NamespaceContentRemaining', reason: 'ContentRemoved', message: 'All content successfully removed' },
  { type: 'NamespaceFinalizersRemaining', reason: 'ContentHasNoFinalizers', message: 'All content-preserving finalizers finished' },
];

/** The conditions of a namespace after a pass, or undefined when they already say so. */
export function conditionsAfter(namespace: KubeObject, findings: ContentFindings, now: number): Condition[] | undefined {
  const conditions: Condition[] = [...(namespace.status?.conditions ?? [])];
  let changed = false;
  const problems = problemsOf(findings);
  for (const fine of FINE) {
    const next: Finding = problems.find(({ type }) => type === fine.type) ?? { ...fine, status: 'False' };
    const index = conditions.findIndex(({ type }) => type === fine.type);
    const old = conditions[index];
    if (old && old.status === next.status && old.reason === next.reason && old.message === next.message) continue;
    const lastTransitionTime = old?.status === next.status ? old.lastTransitionTime : formatTime(new Date(now));
    conditions.splice(index < 0 ? conditions.length : index, index < 0 ? 0 : 1, { ...next, lastTransitionTime });
    changed = true;
  }
  return changed ? conditions : undefined;
}

function problemsOf(findings: ContentFindings): Finding[] {
  const problems: Finding[] = [];
  const add = (type: string, reason: string, message: string): void => void problems.push({ type, status: 'True', reason, message });
  const { undiscovered, failures, remaining, finalizers } = findings;
  if (undiscovered.length > 0) {
    const groups = undiscovered.map((group) => `${group}: stale GroupVersion discovery: ${group}`).join(', ');
    add(
      'NamespaceDeletionDiscoveryFailure',
      'DiscoveryFailed',
      `Discovery failed for some groups, ${undiscovered.length} failing: unable to retrieve the complete list of server APIs: ${groups}`,
    );
  }
  if (failures.length > 0) {
    const message = `Failed to delete all resource types, ${failures.length} remaining: ${[...failures].sort().join(', ')}`;
    add('NamespaceDeletionContentFailure', 'ContentDeletionFailed', message);
  }
  if (remaining.size > 0) {
    const list = [...remaining].map(([resource, count]) => `${resource} has ${count} resource instances`);
    add('NamespaceContentRemaining', 'SomeResourcesRemain', `Some resources are remaining: ${list.sort().join(', ')}`);
  }
  if (finalizers.size > 0) {
    const list = [...finalizers].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`);
    add(
      'NamespaceFinalizersRemaining',
      'SomeFinalizersRemain',
      `Some content in the namespace has finalizers remaining: ${list.sort().join(', ')}`,
    );
  }
  return problems;
}
