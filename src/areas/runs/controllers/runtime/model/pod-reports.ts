import { RUNTIMED_CONTAINER } from '../../../../../api/kruntimes.io/v1alpha1/names.ts';
import { RuntimeCondition, RUNTIMED_READY, type FailureReason } from '../../../../../api/kruntimes.io/v1alpha1/reasons.ts';
import type { Runtime } from '../../../../../api/kruntimes.io/v1alpha1/runtime.ts';
import { findCondition, type Condition } from '../../../../../kube/conditions.ts';
import { isolationOf, type RuntimeSettings } from './runtime-deployment.ts';
import type { Json, KubeObject } from '../../../../../kube/object.ts';

export interface Complaint {
  reason: string;
  message: string;
}

/** The first thing that a Pod says is wrong: with its image, its containers, its interpreter. */
export function complaintOf(pods: readonly KubeObject[]): Complaint | undefined {
  for (const { metadata, status } of pods) {
    const states: Json[] = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
    for (const { name, state } of states) {
      const reason: string | undefined = state?.waiting?.reason;
      if (reason === undefined || reason === 'ContainerCreating' || reason === 'PodInitializing') continue;
      return { reason, message: `container "${name}" of Pod "${metadata.name}": ${state.waiting.message ?? reason}` };
    }
    const runtimed = findCondition<Json>(status?.conditions, RUNTIMED_READY);
    if (runtimed?.status === 'False')
      return { reason: runtimed.reason, message: `${RUNTIMED_CONTAINER} of Pod "${metadata.name}": ${runtimed.message}` };
  }
  return undefined;
}

/** What is missing on the machine comes no sooner by waiting: Runs that wait for it fail with this reason. */
export function hopelessReason(complaint: Complaint): FailureReason | undefined {
  const { reason } = complaint;
  return reason === 'InterpreterMissing' || reason === 'IsolationUnavailable' || reason === 'LimitsUnavailable' ? reason : undefined;
}

type Capability = Omit<Condition, 'lastTransitionTime'>;

/** What the Pods say of what they can do. Nothing where no Pod has said anything: what was known before then stays. */
export function capabilitiesOf(
  runtime: Runtime,
  pods: readonly KubeObject[],
  settings: Pick<RuntimeSettings, 'builtInIsolation'> = {},
): Capability[] {
  const reports = pods
    .map(({ status }) => findCondition<Json>(status?.conditions, RUNTIMED_READY))
    .filter((report) => report !== undefined);
  const isolation = isolationOf(runtime, settings) ?? 'shared';
  const { reason } = settings.builtInIsolation ?? {};
  const instead = runtime.spec.isolation === undefined && reason !== undefined ? `; "process" cannot be given here: ${reason}` : '';
  return [
    ...capability(reports, RuntimeCondition.InterpreterAvailable, 'InterpreterMissing', 'programs can be started'),
    ...capability(reports, RuntimeCondition.IsolationAvailable, 'IsolationUnavailable', `Runs get isolation "${isolation}"${instead}`),
    ...(runtime.spec.limits === undefined
      ? []
      : capability(reports, RuntimeCondition.LimitsAvailable, 'LimitsUnavailable', 'each Run is held to the limits')),
  ];
}

function capability(reports: Json[], type: string, missing: FailureReason, well: string): Capability[] {
  const complaint = reports.find(({ status, reason }) => status === 'False' && reason === missing);
  if (complaint !== undefined) return [{ type, status: 'False', reason: missing, message: complaint.message }];
  if (reports.some(({ status }) => status === 'True')) return [{ type, status: 'True', reason: 'Available', message: well }];
  return [];
}

/** Whether a change of a Pod tells nothing new: most of them are heartbeats. */
export function saysTheSame(before: KubeObject, after: KubeObject): boolean {
  return JSON.stringify(reportOf(before)) === JSON.stringify(reportOf(after));
}

function reportOf(pod: KubeObject): Json {
  const runtimed = findCondition<Json>(pod.status?.conditions, RUNTIMED_READY);
  return [complaintOf([pod]), runtimed?.status, runtimed?.reason, pod.metadata.labels];
}
