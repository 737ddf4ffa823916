import { RunKind, type Run, type RunPhase, type RunSpec, type RunStatus } from '../../../src/api/kruntimes.io/v1alpha1/run.ts';
import { RUNTIMED_READY } from '../../../src/api/kruntimes.io/v1alpha1/reasons.ts';
import { createClient, type Client } from '../../../src/client/client.ts';
import { connectContext } from '../../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../../src/client/config/kubeconfig.ts';
import { CustomResourceDefinition, Pod } from '../../../src/client/kinds.ts';
import { isConditionTrue } from '../../../src/kube/conditions.ts';
import { formatTime } from '../../../src/kube/time.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';
import { startEmbeddedTarget } from '../../support/embedded-target.ts';

export interface ServerOfRuns {
  kubeconfig: string;
  close(): Promise<void>;
}

/** An API server that knows Runs and Runtimes and does nothing about them: tests say what Pods and Runs are like. */
export class ScriptedRuns {
  readonly client: Client;
  readonly target: ServerOfRuns;

  private constructor(target: ServerOfRuns, client: Client) {
    this.target = target;
    this.client = client;
  }

  static async start(startTarget: () => Promise<ServerOfRuns> = startEmbeddedTarget): Promise<ScriptedRuns> {
    const target = await startTarget();
    const client = createClient(await connectContext(resolveContext(await loadKubeconfig({ path: target.kubeconfig }))));
    const definitions = client.resource(CustomResourceDefinition);
    for (const definition of ownCustomResourceDefinitions()) {
      const { metadata } = await definitions.create(definition);
      for (;;) {
        const { status } = await definitions.get(metadata.name!);
        if (isConditionTrue(status?.conditions, 'Established')) break;
        await new Promise((resolve) => void setTimeout(resolve, 10));
      }
    }
    return new ScriptedRuns(target, client);
  }

  async stop(): Promise<void> {
    await this.client.close();
    await this.target.close();
  }

  /** A Pod of the Runtime `here` that is ready. */
  async pod(name: string, metadata: object = {}, place: object = { schedulerName: 'nobody' }): Promise<{ name: string; uid: string }> {
    const pods = this.client.resource(Pod, 'default');
    const { metadata: created } = await pods.create({
      metadata: { name, labels: { runtime: 'here' }, ...metadata },
      spec: { containers: [{ name: 'runtime', image: 'example/none' }], ...place },
    });
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await pods.status.patch(name, { type: 'merge', patch: { status } });
    return { name, uid: created.uid! };
  }

  async heartbeat(name: string, status: string, at: string): Promise<void> {
    const condition = { type: RUNTIMED_READY, status, lastProbeTime: at };
    await this.client.resource(Pod, 'default').status.patch(name, { type: 'strategic', patch: { status: { conditions: [condition] } } });
  }

  async deletePod(name: string, gracePeriodSeconds = 0): Promise<void> {
    await this.client.resource(Pod, 'default').delete(name, { gracePeriodSeconds });
  }

  /** A Run that is on the Pod in this phase. */
  async runOn(name: string, pod: { name: string; uid: string }, phase: RunPhase, spec: Partial<RunSpec> = {}): Promise<Run> {
    await this.run(name, spec);
    const now = formatTime(new Date());
    const condition = { type: 'Scheduled', status: 'True', reason: 'Assigned', message: '', lastTransitionTime: now } as const;
    return this.status(name, { phase, assignedPod: pod.name, assignedPodUID: pod.uid, conditions: [condition] });
  }

  run(name: string, spec: Partial<RunSpec> = {}, metadata: object = {}): Promise<Run> {
    const run = { metadata: { name, ...metadata }, spec: { runtime: 'here', mode: { task: { args: ['true'] } }, ...spec } };
    return this.client.resource(RunKind, 'default').create(run);
  }

  status(name: string, status: RunStatus): Promise<Run> {
    return this.client.resource(RunKind, 'default').status.patch(name, { type: 'merge', patch: { status } });
  }

  get(name: string): Promise<Run> {
    return this.client.resource(RunKind, 'default').get(name);
  }

  async find(name: string): Promise<Run | undefined> {
    const runs = await this.client.resource(RunKind, 'default').list({ fieldSelector: `metadata.name=${name}` });
    return runs.items[0];
  }

  /** Reads until it holds, for some seconds. */
  async until(name: string, holds: (run: Run) => boolean): Promise<Run> {
    for (let attempt = 0; ; attempt++) {
      const run = await this.get(name);
      if (holds(run)) return run;
      if (attempt === 400) throw new Error(`Run "${name}" never became so: ${JSON.stringify(run.status)}`);
      await new Promise((resolve) => void setTimeout(resolve, 10));
    }
  }
}
