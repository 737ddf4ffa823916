import { deepEqual } from '../../../kube/json-value.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isControlledBy, ownerReference } from '../../../kube/ownership.ts';
import { isStatusError } from '../../../kube/status.ts';
import { errorText } from '../../../lib/log.ts';
import type { NewObject } from '../workload/model/pod-from-template.ts';
import { templateHash } from '../workload/model/template-hash.ts';
import { conditionOf, withCondition } from '../workload/model/workload-conditions.ts';
import { isNamespaceTerminating } from '../workload/pod-control.ts';
import { hasDeadline } from './model/progress.ts';
import { findNewSet, HASH_LABEL, newSetAnnotations, nextRevision, REVISION, sizeAnnotations } from './model/revisions.ts';
import { newSetSize } from './model/sizes.ts';
import type { Pass } from './pass.ts';

const MAX_NAME = 253;

/** Brings the annotations, revision and minReadySeconds of the new set up to date, if there is one. */
export async function syncNewSet(pass: Pass): Promise<void> {
  const { deployment, newSet: set } = pass;
  if (!set) return;
  const annotations = newSetAnnotations(deployment, set.metadata.annotations, nextRevision(pass.old));
  const minReadySeconds: number = deployment.spec.minReadySeconds ?? 0;
  if (!deepEqual(annotations, set.metadata.annotations ?? {}) || (set.spec.minReadySeconds ?? 0) !== minReadySeconds) {
    await pass.updateSet(set, { ...set, metadata: { ...set.metadata, annotations }, spec: { ...set.spec, minReadySeconds } });
  }
  await pass.writeRevision(annotations[REVISION]);
  if (hasDeadline(deployment) && !conditionOf(deployment.status, 'Progressing')) {
    await writeProgressing(pass, 'True', 'FoundNewReplicaSet', `Found new replica set "${set.metadata.name}"`);
  }
}

/** Makes the set for the Deployment's template. @returns false when there is none after all: this pass ends. */
export async function createNewSet(pass: Pass): Promise<boolean> {
  const { deployment } = pass;
  const revision = nextRevision(pass.old);
  const draft = newSetOf(pass, revision);
  try {
    pass.newSet = await pass.sets().create(draft);
  } catch (error) {
    if (isNamespaceTerminating(error)) return false;
    if (isStatusError(error, 'AlreadyExists')) return takeOver(pass, draft.metadata.name!);
    const message = `Failed to create new replica set "${draft.metadata.name}": ${errorText(error)}`;
    if (hasDeadline(deployment)) await writeProgressing(pass, 'False', 'ReplicaSetCreateError', message);
    pass.event('Warning', 'ReplicaSetCreateError', message);
    throw error;
  }
  const { name } = pass.newSet.metadata;
  if (draft.spec.replicas > 0) pass.event('Normal', 'ScalingReplicaSet', `Scaled up replica set ${name} from 0 to ${draft.spec.replicas}`);
  await pass.writeRevision(String(revision));
  if (hasDeadline(deployment)) await writeProgressing(pass, 'True', 'NewReplicaSetCreated', `Created new replica set "${name}"`);
  return true;
}

function newSetOf(pass: Pass, revision: bigint): NewObject {
  const { deployment } = pass;
  const { template, selector, minReadySeconds } = deployment.spec;
  const hash = templateHash(template, deployment.status?.collisionCount);
  const labels = { ...template.metadata?.labels, [HASH_LABEL]: hash };
  return {
    metadata: {
      name: `${deployment.metadata.name!.slice(0, MAX_NAME - 1 - hash.length)}-${hash}`,
      namespace: deployment.metadata.namespace,
      labels,
      annotations: { ...newSetAnnotations(deployment, undefined, revision), ...sizeAnnotations(deployment) },
      ownerReferences: [ownerReference(deployment, { controller: true, blockOwnerDeletion: true })],
    },
    spec: {
      replicas: newSetSize(deployment, pass.old, 0),
      minReadySeconds,
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [HASH_LABEL]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

/** The name is taken: by the set we want (the cache is late), or by another template with the same hash. */
async function takeOver(pass: Pass, name: string): Promise<boolean> {
  const { deployment } = pass;
  const existing: KubeObject = await pass.sets().get(name);
  if (isControlledBy(existing, deployment) && findNewSet(deployment, [existing])) {
    pass.newSet = existing;
    return true;
  }
  // The next pass, woken by this write, tries another hash.
  await pass.writeStatus({ ...deployment.status, collisionCount: (deployment.status?.collisionCount ?? 0) + 1 });
  return false;
}

async function writeProgressing(pass: Pass, status: string, reason: string, message: string): Promise<void> {
  const { status: current } = pass.deployment;
  const conditions = withCondition(current?.conditions, { type: 'Progressing', status, reason, message }, pass.now(), { updateTime: true });
  await pass.writeStatus({ ...current, conditions });
}
