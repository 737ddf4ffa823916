import { PLACED_FROM_LABEL, WORKLOAD_LABEL } from '../../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { Deployment, Node, Pod } from '../../../../client/kinds.ts';
import { findCondition, isConditionTrue, type Condition } from '../../../../kube/conditions.ts';
import type { KubeObject, ObjectMeta } from '../../../../kube/object.ts';
import type { InformerSelection } from '../../../../runtime/informer/shared-informers.ts';

type DeploymentObject = NonNullable<(typeof Deployment)['objectType']>;
type PodObject = NonNullable<(typeof Pod)['objectType']>;
type NodeObject = NonNullable<(typeof Node)['objectType']>;

/** Administrators of a tenant's cluster may write anything in it: of each object we keep what we use, and no more of them than this. */
const MOST_OBJECTS = 1000;
const TEXT_MAX = 512;

function bounded(text: unknown): string {
  // In place of a part of it, which would hold all of it.
  return typeof text === 'string' && text.length <= TEXT_MAX ? text : 'too long';
}

function keptMetadata({ name, namespace, uid, resourceVersion, generation, deletionTimestamp, labels }: ObjectMeta): ObjectMeta {
  const workload = labels?.[WORKLOAD_LABEL];
  return {
    name,
    namespace,
    uid,
    resourceVersion,
    generation,
    ...(workload === undefined ? {} : { labels: { [WORKLOAD_LABEL]: workload } }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
  };
}

function keptCondition(condition: Condition): Condition {
  const { type, status, reason, message, lastTransitionTime } = condition;
  return { type, status, reason: bounded(reason ?? ''), message: bounded(message ?? ''), lastTransitionTime };
}

/** As far as it tells whether what was put there runs. */
export function keptDeployment({ apiVersion, kind, metadata, spec, status }: KubeObject): KubeObject {
  const told = ['Progressing', 'ReplicaFailure'].flatMap((type) => findCondition(status?.conditions as Condition[], type) ?? []);
  const { observedGeneration, replicas, updatedReplicas, availableReplicas } = status ?? {};
  const image = bounded(spec?.template?.spec?.containers?.[0]?.image);
  return {
    apiVersion,
    kind,
    metadata: keptMetadata(metadata),
    spec: { replicas: spec?.replicas, template: { spec: { containers: [{ image }] } } },
    status: { observedGeneration, replicas, updatedReplicas, availableReplicas, conditions: told.map(keptCondition) },
  };
}

export function keptPod({ apiVersion, kind, metadata, status }: KubeObject): KubeObject {
  const container = status?.containerStatuses?.[0];
  const containerStatuses = container && [
    {
      restartCount: container.restartCount,
      ready: container.ready,
      state: timesOf(container.state),
      lastState: timesOf(container.lastState),
    },
  ];
  const ready = isConditionTrue(status?.conditions as Condition[], 'Ready') ? 'True' : 'False';
  return {
    apiVersion,
    kind,
    metadata: keptMetadata(metadata),
    status: { conditions: [{ type: 'Ready', status: ready }], ...(containerStatuses && { containerStatuses }) },
  };
}

function timesOf(state: { running?: { startedAt?: string }; terminated?: { startedAt?: string; finishedAt?: string } } | undefined) {
  const { startedAt, finishedAt } = state?.terminated ?? {};
  return {
    ...(state?.running && { running: { startedAt: state.running.startedAt } }),
    ...(state?.terminated && { terminated: { startedAt, finishedAt } }),
  };
}

function keptNode({ apiVersion, kind, metadata, spec, status }: KubeObject): KubeObject {
  const { name, uid, resourceVersion } = metadata;
  const ready = isConditionTrue(status?.conditions as Condition[], 'Ready') ? 'True' : 'False';
  const unschedulable = spec?.unschedulable === true;
  return {
    apiVersion,
    kind,
    metadata: { name, uid, resourceVersion },
    spec: { unschedulable },
    status: { conditions: [{ type: 'Ready', status: ready }] },
  };
}

/** Pods may begin on it. */
export function isUsable({ spec, status }: KubeObject): boolean {
  return isConditionTrue(status?.conditions as Condition[], 'Ready') && spec.unschedulable !== true;
}

export function deploymentSelection(tenant: string): InformerSelection<DeploymentObject> {
  const transform = (found: DeploymentObject) => keptDeployment(found) as unknown as DeploymentObject;
  return { labelSelector: `${PLACED_FROM_LABEL}=${tenant}`, transform, ceiling: { weight: MOST_OBJECTS } };
}

export function podSelection(tenant: string): InformerSelection<PodObject> {
  const transform = (found: PodObject) => keptPod(found) as unknown as PodObject;
  return { labelSelector: `${WORKLOAD_LABEL},${PLACED_FROM_LABEL}=${tenant}`, transform, ceiling: { weight: MOST_OBJECTS } };
}

export function nodeSelection(): InformerSelection<NodeObject> {
  const transform = (found: NodeObject) => keptNode(found) as unknown as NodeObject;
  return { transform, ceiling: { weight: MOST_OBJECTS } };
}
