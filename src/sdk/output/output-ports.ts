import type { Readable } from 'node:stream';
import { RUNTIMED_CONTAINER } from '../../api/kruntimes.io/v1alpha1/names.ts';
import { RunCondition } from '../../api/kruntimes.io/v1alpha1/reasons.ts';
import type { Run } from '../../api/kruntimes.io/v1alpha1/run.ts';
import { ConfigMap } from '../../client/kinds.ts';
import { podLogs } from '../../client/streams/pod-logs.ts';
import { isTransportError } from '../../client/transport-error.ts';
import { isStatusError } from '../../kube/status.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Cluster } from '../cluster.ts';
import { runUpdates } from '../run-updates.ts';

/** What reading a Run's output needs of the cluster. */
export interface OutputPorts {
  updates(run: Run, signal: AbortSignal): AsyncIterable<Run | undefined>;
  /** runtimed's log from the moment the Run came to its Pod; undefined when it cannot be had (any more). */
  podLog(run: Run, options: { follow: boolean; signal: AbortSignal }): Promise<Readable | undefined>;
  configMapData(name: string): Promise<Record<string, string> | undefined>;
  clock: Clock;
}

export function outputPorts({ client, transport }: Cluster, namespace: string): OutputPorts {
  return {
    clock: client.clock,
    updates: (known, signal) => runUpdates(client, { namespace, name: known.metadata.name! }, { known, signal }),
    async podLog(run, { follow, signal }) {
      const pod = { namespace, name: run.status?.assignedPod ?? '' };
      try {
        return await podLogs(transport, pod, { container: RUNTIMED_CONTAINER, follow, sinceTime: cameToPod(run), signal });
      } catch (error) {
        // The Pod is gone, its node does not answer, or its log is not ours to read: what was kept of the output remains.
        if (isStatusError(error)) return undefined;
        // A server that is away for a moment is waited for, as the watch of the Run waits for it.
        if (follow && isTransportError(error) && !signal.aborted) return undefined;
        throw error;
      }
    },
    async configMapData(name) {
      try {
        return (await client.resource(ConfigMap, namespace).get(name)).data;
      } catch (error) {
        if (isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')) return undefined;
        throw error;
      }
    },
  };
}

/** Earlier attempts in the same Pod count. Clocks may differ a little. */
function cameToPod(run: Run): string | undefined {
  const scheduled = findCondition(run.status?.conditions, RunCondition.Scheduled)?.lastTransitionTime;
  const since = scheduled ?? run.status?.startTime ?? run.metadata.creationTimestamp;
  return since === undefined ? undefined : new Date(Date.parse(since) - 1000).toISOString();
}
