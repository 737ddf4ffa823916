import type { Json, KubeObject } from '../../../../kube/object.ts';

export interface FailureVerdict {
  /** The failure counts towards the limits. */
  counts: boolean;
  action?: 'Ignore' | 'FailIndex' | 'Count' | 'FailJob';
  /** For FailJob: why. */
  message?: string;
}

/** What spec.podFailurePolicy says about a failed Pod: the first rule that matches. */
export function failureVerdict(policy: Json, pod: KubeObject): FailureVerdict {
  for (const [index, rule] of (policy?.rules ?? []).entries()) {
    const message = rule.onExitCodes ? exitCodeMatch(rule, pod) : conditionMatch(rule, pod);
    if (message === undefined) continue;
    const { action } = rule;
    if (action === 'Ignore') return { counts: false, action };
    return action === 'FailJob'
      ? { counts: true, action, message: `${message} matching FailJob rule at index ${index}` }
      : { counts: true, action };
  }
  return { counts: true };
}

function exitCodeMatch({ onExitCodes }: Json, pod: KubeObject): string | undefined {
  const { containerName, operator, values = [] } = onExitCodes;
  for (const { name, state } of [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])]) {
    const exitCode = state?.terminated?.exitCode;
    if (!exitCode || (containerName !== undefined && containerName !== name)) continue;
    const listed = values.includes(exitCode);
    if (operator === 'In' ? listed : operator === 'NotIn' && !listed) {
      return `Container ${name} for pod ${pod.metadata.namespace}/${pod.metadata.name} failed with exit code ${exitCode}`;
    }
  }
  return undefined;
}

function conditionMatch({ onPodConditions = [] }: Json, pod: KubeObject): string | undefined {
  const found = (pod.status?.conditions ?? []).find((condition: Json) =>
    onPodConditions.some(({ type, status = 'True' }: Json) => type === condition.type && status === condition.status),
  );
  return found && `Pod ${pod.metadata.namespace}/${pod.metadata.name} has condition ${found.type}`;
}
