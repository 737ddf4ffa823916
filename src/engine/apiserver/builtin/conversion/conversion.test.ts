import { describe, expect, test } from 'vitest';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { autoscalerFromV2, autoscalerToV2 } from './autoscalers.ts';
import { eventFromCore, eventToCore } from './events.ts';

const METRICS = [
  { type: 'Pods', pods: { metric: { name: 'p' }, target: { type: 'AverageValue', averageValue: '1' } } },
  { type: 'External', external: { metric: { name: 'e', selector: { matchLabels: { a: 'b' } } }, target: { type: 'Value', value: '5' } } },
  {
    type: 'Object',
    object: {
      describedObject: { kind: 'Service', name: 's' },
      target: { type: 'Value', value: '3' },
      metric: { name: 'o' },
    },
  },
  { type: 'ContainerResource', containerResource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 5 }, container: 'c' } },
  { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
];

function autoscaler(spec: Json, status: Json = {}): KubeObject {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'x', annotations: { mine: 'kept' } },
    spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, minReplicas: 1, maxReplicas: 3, ...spec },
    status: { desiredReplicas: 2, currentReplicas: 2, currentMetrics: null, ...status },
  };
}

describe('autoscalers', () => {
  test('survive the way through autoscaling/v1 and back', () => {
    const behavior = {
      scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies: [{ type: 'Pods', value: 1, periodSeconds: 5 }] },
      scaleDown: { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] },
    };
    const currentMetrics = [{ type: 'Resource', resource: { name: 'cpu', current: { averageValue: '4m', averageUtilization: 40 } } }];
    const conditions = [{ type: 'AbleToScale', status: 'True', lastTransitionTime: '2024-01-01T00:00:00Z' }];
    const original = autoscaler({ metrics: METRICS, behavior }, { currentMetrics, conditions });
    expect(autoscalerToV2(autoscalerFromV2(original))).toEqual(original);
  });

  test('show CPU utilization as a field in autoscaling/v1', () => {
    const v1 = autoscalerFromV2(autoscaler({ metrics: METRICS }));
    expect(v1['spec'].targetCPUUtilizationPercentage).toBe(50);
    expect(JSON.parse(v1.metadata.annotations!['autoscaling.alpha.kubernetes.io/metrics'])).toHaveLength(4);
  });

  test('that say nothing aim at 80 percent', () => {
    const v1 = { ...autoscaler({}), apiVersion: 'autoscaling/v1' };
    expect(autoscalerToV2(v1)['spec'].metrics[0].resource.target.averageUtilization).toBe(80);
  });

  test('with an annotation that cannot be read lose only that', () => {
    const v1 = { ...autoscaler({ targetCPUUtilizationPercentage: 60 }), apiVersion: 'autoscaling/v1' };
    v1.metadata.annotations = { 'autoscaling.alpha.kubernetes.io/metrics': '{' };
    expect(autoscalerToV2(v1)['spec'].metrics).toHaveLength(1);
  });
});

test('events survive the way through the core group and back', () => {
  const event: KubeObject = {
    kind: 'Event',
    apiVersion: 'events.k8s.io/v1',
    metadata: { name: 'x' },
    eventTime: '2024-01-01T00:00:00.000000Z',
    reportingController: 'c',
    regarding: { kind: 'Pod', name: 'p' },
    note: 'n',
    deprecatedSource: {},
    deprecatedFirstTimestamp: null,
    deprecatedLastTimestamp: null,
  };
  const core = eventToCore(event);
  expect(core).toMatchObject({ apiVersion: 'v1', involvedObject: { kind: 'Pod' }, message: 'n', reportingComponent: 'c', source: {} });
  expect(eventFromCore(core)).toEqual(event);
});
