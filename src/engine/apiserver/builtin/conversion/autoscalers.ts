import type { Json, KubeObject } from '../../../../kube/object.ts';
import { objectDecoder } from '../decode/decode.ts';
import { metricFromV2, metricStatusFromV2, metricStatusToV2, metricToV2 } from './autoscaler-metrics.ts';

/** autoscaling/v1 knows only CPU utilization; the rest of an autoscaler travels in these annotations. */
const PREFIX = 'autoscaling.alpha.kubernetes.io/';
const METRICS = `${PREFIX}metrics`;
const CURRENT_METRICS = `${PREFIX}current-metrics`;
const CONDITIONS = `${PREFIX}conditions`;
const BEHAVIOR = `${PREFIX}behavior`;
const ROUND_TRIP = new Set([
  METRICS,
  CURRENT_METRICS,
  CONDITIONS,
  BEHAVIOR,
  `${PREFIX}scale-up-tolerance`,
  `${PREFIX}scale-down-tolerance`,
]);
const DEFAULT_UTILIZATION = 80;

const { decode: decodeV1 } = objectDecoder('io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler', 'HorizontalPodAutoscaler');
const { decode: decodeV2 } = objectDecoder('io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler', 'HorizontalPodAutoscaler');

function isCpuUtilization(metric: Json): boolean {
  return metric.type === 'Resource' && metric.resource?.name === 'cpu' && metric.resource.target?.averageUtilization !== undefined;
}

function cpuMetric(utilization: number): Json {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: utilization } } };
}

function withoutRoundTrip(metadata: Json): Json {
  const kept = Object.entries<string>(metadata.annotations ?? {}).filter(([name]) => !ROUND_TRIP.has(name));
  return { ...metadata, annotations: Object.fromEntries(kept) };
}

export function autoscalerFromV2(autoscaler: KubeObject): KubeObject {
  const { spec, status = {} } = autoscaler;
  const metadata = withoutRoundTrip(autoscaler.metadata);
  const annotate = (name: string, value: Json): void => {
    metadata.annotations[name] = JSON.stringify(value);
  };
  const others = (spec.metrics ?? []).filter((metric: Json) => !isCpuUtilization(metric));
  if (others.length > 0) annotate(METRICS, others.map(metricFromV2));
  if (status.currentMetrics?.length > 0) annotate(CURRENT_METRICS, status.currentMetrics.map(metricStatusFromV2));
  if (spec.behavior) annotate(BEHAVIOR, behaviorToAnnotation(spec.behavior));
  if (status.conditions?.length > 0) annotate(CONDITIONS, status.conditions);
  const cpu = spec.metrics?.findLast(isCpuUtilization);
  const currentCpu = status.currentMetrics?.findLast((metric: Json) => metric.type === 'Resource' && metric.resource?.name === 'cpu');
  return decodeV1(
    {
      apiVersion: 'autoscaling/v1',
      kind: autoscaler.kind,
      metadata,
      spec: {
        scaleTargetRef: spec.scaleTargetRef,
        minReplicas: spec.minReplicas,
        maxReplicas: spec.maxReplicas,
        targetCPUUtilizationPercentage: cpu?.resource.target.averageUtilization,
      },
      status: {
        observedGeneration: status.observedGeneration,
        lastScaleTime: status.lastScaleTime,
        currentReplicas: status.currentReplicas,
        desiredReplicas: status.desiredReplicas,
        currentCPUUtilizationPercentage: currentCpu?.resource.current.averageUtilization,
      },
    },
    'v1',
  );
}

export function autoscalerToV2(autoscaler: KubeObject): KubeObject {
  const { spec, status = {} } = autoscaler;
  const annotations = autoscaler.metadata.annotations ?? {};
  const metrics = [...(parsed(annotations[METRICS])?.map(metricToV2) ?? [])];
  if (spec.targetCPUUtilizationPercentage !== undefined) metrics.push(cpuMetric(spec.targetCPUUtilizationPercentage));
  if (metrics.length === 0) metrics.push(cpuMetric(DEFAULT_UTILIZATION));
  const behavior = behaviorFromAnnotation(parsed(annotations[BEHAVIOR]));
  return decodeV2(
    {
      apiVersion: 'autoscaling/v2',
      kind: autoscaler.kind,
      metadata: withoutRoundTrip(autoscaler.metadata),
      spec: { scaleTargetRef: spec.scaleTargetRef, minReplicas: spec.minReplicas, maxReplicas: spec.maxReplicas, metrics, behavior },
      status: {
        observedGeneration: status.observedGeneration,
        lastScaleTime: status.lastScaleTime,
        currentReplicas: status.currentReplicas,
        desiredReplicas: status.desiredReplicas,
        currentMetrics: currentMetrics(status, annotations),
        conditions: parsed(annotations[CONDITIONS]),
      },
    },
    'v2',
  );
}

function currentMetrics(status: Json, annotations: Record<string, string>): Json {
  const annotated = parsed(annotations[CURRENT_METRICS]);
  if (annotated) return annotated.map(metricStatusToV2);
  const utilization = status.currentCPUUtilizationPercentage;
  if (utilization === undefined) return undefined;
  return [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: utilization } } }];
}

/** Annotations are anyone's to write: what does not parse counts as absent. */
function parsed(text: string | undefined): Json {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}

/** The annotation is written with the names of Go's fields, all of them. */
function behaviorToAnnotation({ scaleUp, scaleDown }: Json): Json {
  return { ScaleUp: rulesToAnnotation(scaleUp), ScaleDown: rulesToAnnotation(scaleDown) };
}

function rulesToAnnotation(rules: Json): Json {
  if (!rules) return null;
  return {
    StabilizationWindowSeconds: rules.stabilizationWindowSeconds ?? null,
    SelectPolicy: rules.selectPolicy ?? null,
    Policies:
      rules.policies?.map(({ type, value, periodSeconds }: Json) => ({ Type: type, Value: value, PeriodSeconds: periodSeconds })) ?? null,
    Tolerance: rules.tolerance ?? null,
  };
}

function behaviorFromAnnotation(behavior: Json): Json {
  if (!behavior?.ScaleUp && !behavior?.ScaleDown) return undefined;
  return { scaleUp: rulesFromAnnotation(behavior.ScaleUp), scaleDown: rulesFromAnnotation(behavior.ScaleDown) };
}

function rulesFromAnnotation(rules: Json): Json {
  if (!rules) return undefined;
  return {
    stabilizationWindowSeconds: rules.StabilizationWindowSeconds,
    selectPolicy: rules.SelectPolicy,
    policies: rules.Policies?.map((policy: Json) => ({ type: policy.Type, value: policy.Value, periodSeconds: policy.PeriodSeconds })),
    tolerance: rules.Tolerance,
  };
}
