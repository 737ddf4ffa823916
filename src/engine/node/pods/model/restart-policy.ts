import type { Container, PodSpec } from '../../../../kube/generated/core-v1.ts';

type Restartable = Pick<Container, 'restartPolicy' | 'restartPolicyRules'>;

/** Whether a container that ended with this code is started again. Its own policy and rules come before the Pod's. */
export function restartsAfter(container: Restartable, { restartPolicy }: Pick<PodSpec, 'restartPolicy'>, exitCode: number): boolean {
  if (container.restartPolicy !== undefined && matchesRule(container, exitCode)) return true;
  const policy = container.restartPolicy ?? restartPolicy ?? 'Always';
  return policy === 'OnFailure' ? exitCode !== 0 : policy !== 'Never';
}

/** For a container that is killed while it runs: there is no exit code that rules could be about. */
export function restartsAfterKill(container: Restartable, { restartPolicy }: Pick<PodSpec, 'restartPolicy'>): boolean {
  return (container.restartPolicy ?? restartPolicy) !== 'Never';
}

function matchesRule({ restartPolicyRules = [] }: Restartable, exitCode: number): boolean {
  return restartPolicyRules.some(({ action, exitCodes }) => {
    if (action !== 'Restart' || !exitCodes) return false;
    const listed = (exitCodes.values ?? []).includes(exitCode);
    return exitCodes.operator === 'In' ? listed : exitCodes.operator === 'NotIn' && !listed;
  });
}
