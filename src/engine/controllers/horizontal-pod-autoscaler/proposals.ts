import { goLabelSelector } from '../../../kube/go-label-selector.ts';
import { labelSelectorMatcher, type LabelMatcher } from '../../../kube/label-selector.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { messageOf } from './client-text.ts';
import type { MetricsReader } from './metrics-reader.ts';
import { milliOf, milliQuantity } from './model/amounts.ts';
import { externalName } from './model/metric-names.ts';
import {
  averageReplicas,
  sharedReplicas,
  sumOf,
  totalReplicas,
  utilizationReplicas,
  type PodsInput,
  type Proposal,
} from './model/replicas.ts';
import type { PodMetrics, Tolerances } from './model/usage.ts';

/** What a metric is looked at for: a target of some size with its Pods. */
export interface Subject {
  namespace: string;
  specReplicas: number;
  statusReplicas: number;
  selector: LabelMatcher;
  pods(): KubeObject[];
  tolerances: Tolerances;
  now: number;
}

/** How many replicas one metric asks for, under which name, and what status.currentMetrics says of it. */
export interface MetricProposal {
  replicas: number;
  name: string;
  status: Json;
}

/** A metric that could not be had or made sense of. */
export class MetricFailure extends Error {
  /** Of the condition ScalingActive and of the event. */
  readonly reason: string;
  /** Of both, without what the caller of all metrics adds. */
  readonly detail: string;

  constructor(reason: string, detail: string, message: string) {
    super(message);
    this.reason = reason;
    this.detail = detail;
  }
}

/** @throws MetricFailure */
export async function proposalOf(reader: MetricsReader, metric: Json, subject: Subject): Promise<MetricProposal> {
  switch (metric.type) {
    case 'Resource':
      return guarded('FailedGetResourceMetric', `failed to get ${metric.resource.name} resource metric value`, async () => {
        const { name, target } = metric.resource;
        const { current, ...rest } = await resourceProposal(reader, name, target, '', subject);
        return { ...rest, status: { type: 'Resource', resource: { name, current } } };
      });
    case 'ContainerResource':
      return guarded(
        'FailedGetContainerResourceMetric',
        `failed to get ${metric.containerResource.container} container metric value`,
        async () => {
          const { name, container, target } = metric.containerResource;
          const { current, ...rest } = await resourceProposal(reader, name, target, container, subject);
          return { ...rest, status: { type: 'ContainerResource', containerResource: { name, container, current } } };
        },
      );
    case 'Pods':
      return guarded('FailedGetPodsMetric', 'failed to get pods metric value', () => podsProposal(reader, metric.pods, subject));
    case 'Object':
      return guarded('FailedGetObjectMetric', 'failed to get object metric value', () => objectProposal(reader, metric.object, subject));
    case 'External':
      return guarded('FailedGetExternalMetric', `failed to get ${metric.external.metric.name} external metric value`, () =>
        externalProposal(reader, metric.external, subject),
      );
    default: {
      const message = `unknown metric source type "${metric.type}"`;
      throw new MetricFailure('InvalidMetricSourceType', message, message);
    }
  }
}

/** What was wrong, and the words that are put before it on its way up, which the condition does not show. */
class Told extends Error {
  readonly prefix: string;

  constructor(prefix: string, cause: unknown) {
    super(messageOf(cause), { cause });
    this.prefix = prefix;
  }
}

async function guarded(reason: string, what: string, work: () => Promise<MetricProposal>): Promise<MetricProposal> {
  try {
    return await work();
  } catch (error) {
    const detail = messageOf(error);
    const prefix = error instanceof Told ? `${error.prefix}: ` : '';
    throw new MetricFailure(reason, detail, `${what}: ${prefix}${detail}`);
  }
}

async function prefixed<T>(prefix: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Error(`${prefix}: ${messageOf(error)}`, { cause: error });
  }
}

function podsInput(subject: Subject, metrics: PodMetrics, resource: string): PodsInput {
  return {
    currentReplicas: subject.specReplicas,
    pods: subject.pods(),
    metrics,
    resource,
    tolerances: subject.tolerances,
    now: subject.now,
  };
}

async function resourceProposal(
  reader: MetricsReader,
  resource: string,
  target: Json,
  container: string,
  subject: Subject,
): Promise<{ replicas: number; name: string; current: Json }> {
  const read = () =>
    prefixed(`unable to get metrics for resource ${resource}`, () =>
      reader.resource(subject.namespace, subject.selector.toString(), resource, container),
    );
  if (target.averageValue !== undefined) {
    const { replicas, usage } = await prefixed(`failed to get ${resource} usage`, async () =>
      averageReplicas(podsInput(subject, await read(), resource), milliOf(target.averageValue)),
    );
    return { replicas, name: `${resource} resource`, current: { averageValue: milliQuantity(usage, resource) } };
  }
  if (target.averageUtilization === undefined) {
    throw new Error('invalid resource metric source: neither an average utilization target nor an average value (usage) target was set');
  }
  const { replicas, usage, percent } = await prefixed(`failed to get ${resource} utilization`, async () =>
    utilizationReplicas(podsInput(subject, await read(), resource), target.averageUtilization, container),
  );
  const kind = container === '' ? 'resource' : 'container resource';
  const current = { averageUtilization: percent, averageValue: milliQuantity(usage, resource) };
  return { replicas, name: `${resource} ${kind} utilization (percentage of request)`, current };
}

async function podsProposal(reader: MetricsReader, { metric, target }: Json, subject: Subject): Promise<MetricProposal> {
  const metrics = await prefixed(`unable to get metric ${metric.name}`, () =>
    reader.pods(subject.namespace, subject.selector.toString(), metric.name, labelSelectorMatcher(metric.selector).toString()),
  );
  const { replicas, usage } = averageReplicas(podsInput(subject, metrics, ''), milliOf(target.averageValue));
  const status = { type: 'Pods', pods: { metric, current: { averageValue: milliQuantity(usage) } } };
  return { replicas, name: `pods metric ${metric.name}`, status };
}

async function objectProposal(reader: MetricsReader, { metric, target, describedObject }: Json, subject: Subject): Promise<MetricProposal> {
  const read = async (): Promise<number> => {
    const selector = labelSelectorMatcher(metric.selector).toString();
    try {
      return await reader.object(subject.namespace, describedObject, metric.name, selector);
    } catch (error) {
      // The object stands where the error should, and the other way round: so it is upstream, and so tools know it.
      throw new Error(
        `unable to get metric ${metric.name}: ${describedObject.kind} on ${subject.namespace} ${describedObject.name}/${messageOf(error)}`,
        { cause: error },
      );
    }
  };
  const statusOf = (current: Json) => ({ type: 'Object', object: { describedObject, metric, current } });
  if (target.type === 'Value' && target.value !== undefined) {
    const { replicas, usage } = totalProposal(subject, await read(), milliOf(target.value));
    return { replicas, name: `${describedObject.kind} metric ${metric.name}`, status: statusOf({ value: milliQuantity(usage) }) };
  }
  if (target.type === 'AverageValue' && target.averageValue !== undefined) {
    const { replicas, usage } = await told(`failed to get ${metric.name} object metric`, async () =>
      sharedReplicas(subject.statusReplicas, await read(), milliOf(target.averageValue), subject.tolerances),
    );
    return { replicas, name: externalName(metric), status: statusOf({ averageValue: milliQuantity(usage) }) };
  }
  throw new Error('invalid object metric source: neither a value target nor an average value target was set');
}

async function externalProposal(reader: MetricsReader, { metric, target }: Json, subject: Subject): Promise<MetricProposal> {
  const read = async (): Promise<number> => {
    const { namespace } = subject;
    try {
      return sumOf(await reader.external(namespace, metric.name, labelSelectorMatcher(metric.selector).toString()));
    } catch (error) {
      const what = `${namespace}/${metric.name}/${goLabelSelector(metric.selector)}`;
      throw new Error(`unable to get external metric ${what}: ${messageOf(error)}`, { cause: error });
    }
  };
  const statusOf = (current: Json) => ({ type: 'External', external: { metric, current } });
  const name = externalName(metric);
  if (target.averageValue !== undefined) {
    const { replicas, usage } = await told(`failed to get ${metric.name} external metric`, async () =>
      sharedReplicas(subject.statusReplicas, await read(), milliOf(target.averageValue), subject.tolerances),
    );
    return { replicas, name, status: statusOf({ averageValue: milliQuantity(usage) }) };
  }
  if (target.value !== undefined) {
    const { replicas, usage } = await told(`failed to get external metric ${metric.name}`, async () =>
      totalProposal(subject, await read(), milliOf(target.value)),
    );
    return { replicas, name, status: statusOf({ value: milliQuantity(usage) }) };
  }
  throw new Error('invalid external metric source: neither a value target nor an average value target was set');
}

function totalProposal(subject: Subject, usage: number, target: number): Proposal {
  try {
    return totalReplicas(subject.specReplicas, usage, target, () => subject.pods(), subject.tolerances);
  } catch (error) {
    throw new Error(`unable to calculate ready pods: ${messageOf(error)}`, { cause: error });
  }
}

async function told<T>(prefix: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Told(prefix, error);
  }
}
