import { HorizontalPodAutoscaler } from '../../../client/kinds.ts';
import { setCondition, type Condition } from '../../../kube/conditions.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { formatTime } from '../../../kube/time.ts';
import type { Environment } from '../environment.ts';
import { writeStatus } from '../workload/write-status.ts';
import { messageOf } from './client-text.ts';

type ConditionType = 'AbleToScale' | 'ScalingActive' | 'ScalingLimited';

/** One look at one autoscaler: conditions and events come up on the way, one write ends it. */
export class Pass {
  readonly hpa: KubeObject;
  readonly now: number;
  readonly #environment: Pick<Environment, 'client' | 'events'>;
  readonly #conditions: Condition[];

  constructor(environment: Pick<Environment, 'client' | 'events' | 'clock'>, hpa: KubeObject) {
    this.#environment = environment;
    this.hpa = hpa;
    this.now = environment.clock.now();
    this.#conditions = structuredClone(hpa.status?.conditions ?? []);
  }

  get namespace(): string {
    return this.hpa.metadata.namespace!;
  }

  get spec(): Json {
    return this.hpa.spec;
  }

  condition(type: ConditionType, status: 'True' | 'False', reason: string, message: string): void {
    setCondition(this.#conditions, { type, status, reason, message }, new Date(this.now));
  }

  event(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#environment.events.record(this.hpa, { type, reason, message });
  }

  /** When it was not possible to look further: sizes and metrics stay as they were. */
  writeConditions(): Promise<void> {
    return this.#write({ ...this.hpa.status });
  }

  writeStatus(status: {
    currentReplicas: number;
    desiredReplicas: number;
    currentMetrics: Json[] | undefined;
    rescaled: boolean;
  }): Promise<void> {
    const { rescaled, currentReplicas, desiredReplicas, currentMetrics } = status;
    const lastScaleTime = rescaled ? formatTime(new Date(this.now)) : this.hpa.status?.lastScaleTime;
    // A size of none is not written out, as Go does not.
    return this.#write({
      lastScaleTime,
      currentReplicas: currentReplicas || undefined,
      desiredReplicas,
      currentMetrics: currentMetrics ?? null,
    });
  }

  async #write(status: Json): Promise<void> {
    const { client } = this.#environment;
    try {
      await writeStatus(client, HorizontalPodAutoscaler, this.hpa, { ...status, conditions: this.#conditions });
    } catch (error) {
      this.event('Warning', 'FailedUpdateStatus', messageOf(error));
      throw error;
    }
  }
}
