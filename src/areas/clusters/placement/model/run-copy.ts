import { RunCondition, type FailureReason } from '../../../../api/kruntimes.io/v1alpha1/reasons.ts';
import type { Run, RunSpec, RunStatus } from '../../../../api/kruntimes.io/v1alpha1/run.ts';
import { attemptOf } from '../../../../api/kruntimes.io/v1alpha1/run-state.ts';
import { ORIGINAL_UID, PLACED_FROM_LABEL, PLACEMENT_FINALIZER } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import { ConfigMap, Secret } from '../../../../client/kinds.ts';
import { setCondition } from '../../../../kube/conditions.ts';
import { formatTime } from '../../../../kube/time.ts';
import { ownMetadata } from './copies.ts';

/** How long it stays after its end is the original's to say. */
export function copiedRunSpec(spec: RunSpec): RunSpec {
  const copied = { ...spec };
  delete copied.ttlSecondsAfterFinished;
  return copied;
}

/** What has to be there when it begins: without it a Run fails, and is not tried again. */
export function neededBy({ env = [], source }: RunSpec): { plural: string; name: string }[] {
  const secrets = env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name);
  const configMaps = env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name);
  const named = (plural: string, names: readonly (string | undefined)[]) =>
    [...new Set(names)].flatMap((name) => (name === undefined ? [] : [{ plural, name }]));
  return [...named(Secret.plural, [...secrets, source?.credentialsSecretName]), ...named(ConfigMap.plural, configMaps)];
}

export function runCopy(original: Run, tenant: string): Run {
  const { name, namespace, labels, annotations } = ownMetadata(original.metadata);
  return {
    apiVersion: original.apiVersion,
    kind: original.kind,
    metadata: {
      name,
      namespace,
      labels: { ...labels, [PLACED_FROM_LABEL]: tenant },
      annotations: { ...annotations, [ORIGINAL_UID]: original.metadata.uid! },
      finalizers: [PLACEMENT_FINALIZER],
    },
    spec: copiedRunSpec(original.spec),
  };
}

/** The end of a Run whose program nobody will tell of. */
export function endedStatus(run: Run, reason: FailureReason, message: string, now: Date): RunStatus {
  const status = { ...run.status, phase: reason === 'Cancelled' ? ('Cancelled' as const) : ('Failed' as const) };
  const conditions = (run.status?.conditions ?? []).map((condition) => ({ ...condition }));
  for (const type of [RunCondition.Running, RunCondition.Completed])
    setCondition(conditions, { type, status: 'False', reason, message }, now);
  return { ...status, attempt: attemptOf(run), message, completionTime: formatTime(now), conditions };
}
