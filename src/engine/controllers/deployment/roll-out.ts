import type { KubeObject } from '../../../kube/object.ts';
import { controllerOf } from '../../../kube/ownership.ts';
import { isTerminal } from '../workload/model/pod-state.ts';
import { isComplete, rolloutStatus } from './model/progress.ts';
import { surplusSets } from './model/revisions.ts';
import { activeSets, newSetSize, replicasOf, shrinkOldSets, totalStatus } from './model/sizes.ts';
import { createNewSet } from './new-set.ts';
import type { Pass } from './pass.ts';

/** One step of RollingUpdate: the new set grows as far as the surge allows, or else the old ones shrink as far as availability allows. */
export async function rollingUpdate(pass: Pass): Promise<void> {
  if (!pass.newSet && !(await createNewSet(pass))) return;
  const { deployment, newSet } = pass;
  const wanted = replicasOf(deployment);
  const current = replicasOf(newSet!);
  const size = current > wanted ? wanted : newSetSize(deployment, pass.all, current);
  const resized =
    (size !== current && (await pass.resize([{ set: newSet!, replicas: size }]))) ||
    (await pass.resize(shrinkOldSets(deployment, newSet!, pass.old)));
  if (!resized) await cleanUp(pass);
  await writeRolloutStatus(pass);
}

/** One step of Recreate: all old Pods go, and only then the new ones come. */
export async function recreate(pass: Pass, pods: readonly KubeObject[]): Promise<void> {
  const shrunk = await pass.resize(activeSets(pass.old).map((set) => ({ set, replicas: 0 })));
  if (!shrunk && !oldPodsRun(pass, pods)) {
    if (!pass.newSet && !(await createNewSet(pass))) return;
    const wanted = replicasOf(pass.deployment);
    if (replicasOf(pass.newSet!) !== wanted) await pass.resize([{ set: pass.newSet!, replicas: wanted }]);
    await cleanUp(pass);
  }
  await writeRolloutStatus(pass);
}

function oldPodsRun(pass: Pass, pods: readonly KubeObject[]): boolean {
  if (totalStatus(pass.old, 'replicas') > 0) return true;
  return pods.some((pod) => !isTerminal(pod) && controllerOf(pod)?.uid !== pass.newSet?.metadata.uid);
}

async function cleanUp(pass: Pass): Promise<void> {
  if (isComplete(pass.deployment, pass.deployment.status)) await deleteSurplusSets(pass);
}

export async function deleteSurplusSets(pass: Pass): Promise<void> {
  for (const set of surplusSets(pass.deployment, pass.old)) await pass.deleteSet(set);
}

async function writeRolloutStatus(pass: Pass): Promise<void> {
  await pass.writeStatus(rolloutStatus(pass.deployment, pass.newSet, pass.old, pass.now()));
}
