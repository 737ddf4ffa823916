import type { PodObject } from './pod-info.ts';

/**
 * Pods of one signature are the same to every filter: what refuses one refuses all. Their names differ, so claims made for one Pod alone
 * are told apart by them.
 */
export function signatureOf(pod: PodObject): string {
  const { metadata, spec, status } = pod;
  const containers = (list: NonNullable<typeof spec>['containers'] | undefined): unknown =>
    list?.map(({ resources, ports, restartPolicy }) => [resources?.requests, ports?.filter(({ hostPort }) => hostPort), restartPolicy]);
  return JSON.stringify([
    metadata.namespace,
    metadata.labels,
    spec?.priority,
    spec?.preemptionPolicy,
    spec?.nodeSelector,
    spec?.affinity,
    spec?.tolerations,
    spec?.topologySpreadConstraints,
    containers(spec?.containers),
    containers(spec?.initContainers),
    spec?.overhead,
    spec?.resources?.requests,
    spec?.volumes?.map(({ name, persistentVolumeClaim, ephemeral }) =>
      persistentVolumeClaim ? persistentVolumeClaim.claimName : ephemeral ? `${metadata.name}-${name}` : undefined,
    ),
    // Whoever was promised a node waits for that one.
    status?.nominatedNodeName ? metadata.uid : undefined,
  ]);
}
