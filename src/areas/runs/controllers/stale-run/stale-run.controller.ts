import { RUNTIME_LABEL } from '../../../../api/kruntimes.io/v1alpha1/names.ts';
import { RunCondition } from '../../../../api/kruntimes.io/v1alpha1/reasons.ts';
import type { Run } from '../../../../api/kruntimes.io/v1alpha1/run.ts';
import { phaseOf } from '../../../../api/kruntimes.io/v1alpha1/run-state.ts';
import { Pod } from '../../../../client/kinds.ts';
import { findCondition } from '../../../../kube/conditions.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { isStatusError } from '../../../../kube/status.ts';
import { parseTime } from '../../../../kube/time.ts';
import { Controller } from '../../../../runtime/controller.ts';
import { EventRecorder } from '../../../../runtime/event-recorder.ts';
import { splitKey, toKey } from '../../../../runtime/informer/object-cache.ts';
import type { RunsEnvironment } from '../../runs-environment.ts';
import { unfinishedRuns } from '../../unfinished-runs.ts';
import { writeRunStatus } from '../../write-run-status.ts';
import { DEFAULT_THRESHOLDS, judgeRun, nextLook, type StaleThresholds } from './model/judge-run.ts';
import { reap } from './model/reap.ts';
import { PodObservations } from './pod-observations.ts';

/**
 * Keys are Pods, not Runs: a Run that goes well costs nothing here. Woken by Pods, whose heartbeats keep them coming, and by Runs that were
 * given a Pod that cannot take them.
 */
export function staleRunController(environment: RunsEnvironment, thresholds: StaleThresholds = DEFAULT_THRESHOLDS): Controller {
  const { client, clock, log, metrics, informers } = environment;
  const pods = informers.get(Pod, { labelSelector: RUNTIME_LABEL });
  const runs = unfinishedRuns(informers);
  runs.addIndex('assignedPod', (run) => (podKeyOf(run) === undefined ? [] : [podKeyOf(run)!]));
  const observations = new PodObservations(clock);
  const events = new EventRecorder({ client, log, controller: 'stale-reaper', instance: 'kruntimes-controller' });

  /** The informer of Pods may be behind that of Runs: that a Pod is gone is asked of the server. */
  const podNow = async (key: string): Promise<KubeObject | undefined> => {
    const { namespace, name } = splitKey(key);
    try {
      return name === NO_POD ? undefined : await client.resource(Pod, namespace).get(name);
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined;
      throw error;
    }
  };
  const judge = async (run: Run, key: string, pod: KubeObject | undefined): Promise<void> => {
    const judged = judgeRun(run, pod && observations.state(key, pod), scheduledFor(run, clock.now()), thresholds);
    if (judged.verdict === 'well') return;
    const { status, event } = reap(run, judged, new Date(clock.now()));
    try {
      const written = await writeRunStatus(client, run, status);
      events.record(written, event);
    } catch (error) {
      // A Run that is gone needs nothing; one that has changed is judged again.
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  };
  const isSuspicious = (run: Run, key: string): boolean => {
    const pod = pods.get(key);
    const uid = run.status?.assignedPodUID;
    return pod === undefined || (uid !== undefined && uid !== pod.metadata.uid) || pod.metadata.deletionTimestamp !== undefined;
  };

  return new Controller({
    name: 'stale-run',
    clock,
    log,
    metrics,
    async reconcile(key) {
      const held = runs.byIndex('assignedPod', key);
      const cached = pods.get(key);
      if (cached === undefined && held.length === 0) return observations.forget(key);
      const isSure = cached !== undefined && !held.some((run) => isSuspicious(run, key));
      const pod = isSure ? cached : await podNow(key);
      if (pod === undefined) observations.forget(key);
      else observations.see(key, pod);
      const results = await Promise.allSettled(held.map((run) => judge(run, key, pod)));
      const refused = results.find((result) => result.status === 'rejected');
      if (refused !== undefined) throw refused.reason;
      // Silence is what no watch tells. A Pod that is heard of comes here before.
      return pod === undefined ? undefined : { afterMs: nextLook(observations.state(key, pod), thresholds) };
    },
  })
    .watch(pods)
    .watch(runs, ({ type, object }) => {
      const key = podKeyOf(object);
      return type !== 'deleted' && key !== undefined && isSuspicious(object, key) ? [key] : [];
    });
}

/** No Pod can be called so. */
const NO_POD = '-';

/** The Pod that has the Run, if the Run is under way. */
function podKeyOf(run: Run): string | undefined {
  const phase = phaseOf(run);
  if (phase !== 'Scheduled' && phase !== 'Running' && phase !== 'Ready') return undefined;
  return toKey(run.metadata.namespace, run.status?.assignedPod || NO_POD);
}

function scheduledFor(run: Run, now: number): number {
  const since = findCondition(run.status?.conditions, RunCondition.Scheduled)?.lastTransitionTime;
  return since === undefined ? 0 : now - (parseTime(since) ?? now);
}
