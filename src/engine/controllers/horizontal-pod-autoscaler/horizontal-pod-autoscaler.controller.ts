import { HorizontalPodAutoscaler } from '../../../client/kinds.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import type { LabelMatcher } from '../../../kube/label-selector.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { Controller, type ReconcileResult } from '../../../runtime/controller.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { keyOf, toKey } from '../../../runtime/informer/object-cache.ts';
import type { Environment, Running } from '../environment.ts';
import { inNamespace, podInformer, workloadInformer } from '../workload/informers.ts';
import { autoscale, type Ports } from './autoscale.ts';
import { MetricsReader } from './metrics-reader.ts';
import type { ScalingHistory } from './model/history.ts';
import { Pass } from './pass.ts';
import { ScaleTargets } from './scale-target.ts';

const SYNC_PERIOD_MS = 15_000;

export function horizontalPodAutoscalerController(environment: Environment): Running {
  const { clock, log, metrics } = environment;
  const autoscalers = workloadInformer(environment, HorizontalPodAutoscaler);
  const pods = podInformer(environment);
  const state = new AutoscalerState(environment, pods);
  const controller = new Controller({
    name: 'horizontal-pod-autoscaler',
    clock,
    log,
    metrics,
    concurrency: 5,
    // A failed pass is a pass: metrics are asked in their own rhythm, not hammered.
    backoff: { initialMs: 1000, maxMs: SYNC_PERIOD_MS },
    async reconcile(key): Promise<ReconcileResult | void> {
      const hpa = autoscalers.get(key);
      if (!hpa || hpa.metadata.deletionTimestamp !== undefined) return state.forget(key);
      await autoscale(new Pass(environment, hpa), state.portsOf(hpa));
      // A timer: what Pods use changes without any object changing.
      return { afterMs: SYNC_PERIOD_MS };
    },
  });
  // Pods wake nobody, the timer sees them; but before they are known every target would seem empty.
  controller.watch(pods, () => []);
  controller.watch(autoscalers, (change) => {
    // Its own status writes must not wake it.
    if (change.type === 'modified' && deepEqual(change.previous.spec, change.object.spec)) return [];
    return [keyOf(change.object)];
  });
  return controller.start();
}

/** What outlives a pass. */
class AutoscalerState {
  readonly #pods: Informer;
  readonly #targets: ScaleTargets;
  readonly #reader: MetricsReader;
  readonly #histories = new Map<string, ScalingHistory>();
  /** The selectors that the targets of autoscalers had when they were last looked at: by namespace, then by key. */
  readonly #selectors = new Map<string, Map<string, LabelMatcher>>();

  constructor({ client }: Environment, pods: Informer) {
    this.#pods = pods;
    this.#targets = new ScaleTargets(client);
    this.#reader = new MetricsReader(client, this.#targets);
  }

  forget(key: string): void {
    this.#histories.delete(key);
    for (const [namespace, selectors] of this.#selectors) {
      if (selectors.delete(key) && selectors.size === 0) this.#selectors.delete(namespace);
    }
  }

  portsOf({ metadata }: KubeObject): Ports {
    const namespace = metadata.namespace!;
    const key = toKey(namespace, metadata.name!);
    return {
      targets: this.#targets,
      reader: this.#reader,
      history: (initial) => {
        const known = this.#histories.get(key) ?? initial();
        this.#histories.set(key, known);
        return known;
      },
      pods: (within, selector) => inNamespace(this.#pods, within).filter((pod) => selector.matches(pod.metadata.labels)),
      claimants: (selector, pods) => {
        let selectors = this.#selectors.get(namespace);
        if (!selectors) this.#selectors.set(namespace, (selectors = new Map<string, LabelMatcher>()));
        selectors.set(key, selector);
        return [...selectors].flatMap(([other, one]) => (pods.some(({ metadata: { labels } }) => one.matches(labels)) ? [other] : []));
      },
    };
  }
}
