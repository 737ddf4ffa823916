import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import { CustomResourceDefinition, Deployment, Event, HorizontalPodAutoscaler, Namespace, Pod } from '../../../src/client/kinds.ts';
import type { Kind } from '../../../src/kube/kind.ts';
import type { Json, KubeObject } from '../../../src/kube/object.ts';
import { formatTime } from '../../../src/kube/time.ts';
import { startMetricsApis, type MetricsApis } from './hpa-metrics.ts';

const Widget: Kind = { group: 'example.org', version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true };
const CPU = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } };

/**
 * What an autoscaler does and says, on any API server with any controller that is started by `connect` and looks about every second. It
 * runs with kube-controller-manager too: what it expects is what Kubernetes says, to the letter.
 */
export function horizontalPodAutoscalerSuite(name: string, connect: () => Promise<{ client: Client }>): void {
  describe(`horizontal-pod-autoscaler controller on ${name}`, () => {
    const WAIT = { timeout: 15_000, interval: 50 };
    let client: Client;
    let metrics: MetricsApis;

    beforeAll(async () => {
      ({ client } = await connect());
      metrics = await startMetricsApis();
      await client.resource<KubeObject>(CustomResourceDefinition).create(widgetDefinition());
    });
    afterAll(() => metrics.close());

    const autoscalers = (namespace: string) => client.resource<KubeObject>(HorizontalPodAutoscaler, namespace);
    const deployments = (namespace: string) => client.resource<KubeObject>(Deployment, namespace);

    async function deploy(namespace: string, replicas: number, requests: Json = { cpu: '100m' }): Promise<KubeObject[]> {
      await client
        .resource(Namespace)
        .create({ metadata: { name: namespace } })
        .catch(() => {});
      const containers = [{ name: 'c', image: 'i', resources: { requests } }];
      const selector = { matchLabels: { app: 'web' } };
      const template = { metadata: { labels: { app: 'web' } }, spec: { containers } };
      await deployments(namespace).create({ metadata: { name: 'web' }, spec: { replicas, selector, template } });
      const pods = await vi.waitFor(async () => {
        const { items } = await client.resource<KubeObject>(Pod, namespace).list();
        expect(items).toHaveLength(replicas);
        return items;
      }, WAIT);
      for (const pod of pods) await runLongAgo(pod);
      // Its status tells how many there are.
      await vi.waitFor(async () => expect((await deployments(namespace).get('web')).status?.replicas ?? 0).toBe(replicas), WAIT);
      return pods;
    }

    async function runLongAgo({ metadata }: KubeObject): Promise<void> {
      const longAgo = formatTime(new Date(Date.now() - 3_600_000));
      const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: longAgo }];
      const status = { phase: 'Running', startTime: longAgo, conditions };
      await client.resource<KubeObject>(Pod, metadata.namespace).status.patch(metadata.name!, { type: 'merge', patch: { status } });
    }

    function use(pods: readonly KubeObject[], usage: Record<string, string>): void {
      for (const { metadata } of pods) metrics.usage.set(`${metadata.namespace}/${metadata.name}`, { c: usage });
    }

    async function autoscale(namespace: string, spec: Json): Promise<void> {
      const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
      await autoscalers(namespace).create({ metadata: { name: 'web' }, spec: { scaleTargetRef, maxReplicas: 10, ...spec } });
    }

    /** The conditions as `type status reason: message`, once they are these. */
    const expectConditions = (namespace: string, expected: string[]): Promise<KubeObject> =>
      vi.waitFor(async () => {
        const hpa = await autoscalers(namespace).get('web');
        const found = (hpa.status?.conditions ?? []).map((one: Json) => `${one.type} ${one.status} ${one.reason}: ${one.message}`);
        expect(found).toEqual(expected);
        return hpa;
      }, WAIT);

    const expectEvents = (namespace: string, expected: string[]): Promise<void> =>
      vi.waitFor(async () => {
        const { items } = await client.resource<KubeObject>(Event, namespace).list();
        const found = items
          .filter((one) => one.regarding?.kind === 'HorizontalPodAutoscaler')
          .map((one) => `${one.type} ${one.reason}: ${one.note}`);
        expect([...new Set(found)]).toEqual(expect.arrayContaining(expected));
      }, WAIT);

    const sizeOf = async (namespace: string): Promise<number> => (await deployments(namespace).get('web')).spec.replicas;

    const GOT_SCALE = "AbleToScale True SucceededGetScale: the HPA controller was able to get the target's current scale";
    const READY = 'AbleToScale True ReadyForNewScale: recommended size matches current size';
    const WITHIN = 'ScalingLimited False DesiredWithinRange: the desired count is within the acceptable range';
    const active = (what: string) =>
      `ScalingActive True ValidMetricFound: the HPA was able to successfully calculate a replica count from ${what}`;
    const inactive = (reason: string, why: string) =>
      `ScalingActive False ${reason}: the HPA was unable to compute the replica count: ${why}`;
    const UTILIZATION = 'cpu resource utilization (percentage of request)';

    test('without a metrics API it says that there is none', async () => {
      await deploy('hpa-none', 1);
      const external = { type: 'External', external: { metric: { name: 'queue' }, target: { type: 'Value', value: '1' } } };
      const pods = { type: 'Pods', pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '1' } } };
      await autoscale('hpa-none', { metrics: [CPU, pods, external] });
      const why =
        'failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)';
      const hpa = await expectConditions('hpa-none', [GOT_SCALE, inactive('FailedGetResourceMetric', why)]);
      expect(hpa.status).toMatchObject({
        currentReplicas: 1,
        desiredReplicas: 0,
        currentMetrics: [{ type: '' }, { type: '' }, { type: '' }],
      });
      await expectEvents('hpa-none', [
        `Warning FailedGetResourceMetric: ${why}`,
        'Warning FailedGetPodsMetric: unable to get metric qps: unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered',
        'Warning FailedGetExternalMetric: unable to get external metric hpa-none/queue/nil: unable to fetch metrics from external metrics API: the server could not find the requested resource (get queue.external.metrics.k8s.io)',
        `Warning FailedComputeMetricsReplicas: invalid metrics (3 invalid out of 3), first error is: failed to get cpu resource metric value: ${why}`,
      ]);
    });

    test('CPU above the target makes it grow, as far as it may', async () => {
      await metrics.register(client);
      use(await deploy('hpa-up', 2), { cpu: '200m' });
      await autoscale('hpa-up', { maxReplicas: 3, metrics: [CPU] });
      await vi.waitFor(async () => expect(await sizeOf('hpa-up')).toBe(3), WAIT);
      await expectEvents('hpa-up', [`Normal SuccessfulRescale: New size: 3; reason: ${UTILIZATION} above target`]);
      const hpa = await expectConditions('hpa-up', [
        READY,
        active(UTILIZATION),
        'ScalingLimited True TooManyReplicas: the desired replica count is more than the maximum replica count',
      ]);
      expect(hpa.status).toMatchObject({
        currentReplicas: 3,
        desiredReplicas: 3,
        currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 200, averageValue: '200m' } } }],
      });
      expect(hpa.status.lastScaleTime).toBeDefined();
      expect(metrics.seen.some(({ user, url }) => user !== '' && url.includes('/hpa-up/pods?labelSelector=app%3Dweb'))).toBe(true);
    });

    test('at the target nothing is written any more', async () => {
      use(await deploy('hpa-rest', 2), { cpu: '50m' });
      await autoscale('hpa-rest', { metrics: [CPU] });
      const { metadata } = await expectConditions('hpa-rest', [READY, active(UTILIZATION), WITHIN]);
      const asked = () => metrics.seen.filter(({ url }) => url.includes('/hpa-rest/')).length;
      const before = asked();
      await vi.waitFor(() => expect(asked()).toBeGreaterThan(before + 1), WAIT);
      expect((await autoscalers('hpa-rest').get('web')).metadata.resourceVersion).toBe(metadata.resourceVersion);
    });

    test('below the target it is held up by what was recommended before', async () => {
      use(await deploy('hpa-down', 4), { cpu: '10m' });
      await autoscale('hpa-down', { metrics: [CPU] });
      await expectConditions('hpa-down', [
        'AbleToScale True ScaleDownStabilized: recent recommendations were higher than current one, applying the highest recent recommendation',
        active(UTILIZATION),
        WITHIN,
      ]);
      expect(await sizeOf('hpa-down')).toBe(4);
    });

    test('a behavior without a window lets it shrink at once, at its pace', async () => {
      use(await deploy('hpa-pace', 5), { cpu: '5m' });
      const scaleDown = { stabilizationWindowSeconds: 0, policies: [{ type: 'Pods', value: 1, periodSeconds: 600 }] };
      await autoscale('hpa-pace', { metrics: [CPU], behavior: { scaleDown } });
      await expectEvents('hpa-pace', ['Normal SuccessfulRescale: New size: 4; reason: All metrics below target']);
      await expectConditions('hpa-pace', [
        READY,
        active(UTILIZATION),
        'ScalingLimited True ScaleDownLimit: the desired replica count is decreasing faster than the maximum scale rate',
      ]);
      expect(await sizeOf('hpa-pace')).toBe(4);
    });

    test('a tolerance of its own decides what is worth a change', async () => {
      use(await deploy('hpa-tolerance', 2), { cpu: '65m' });
      await autoscale('hpa-tolerance', { metrics: [CPU], behavior: { scaleUp: { tolerance: '0.5' } } });
      await expectConditions('hpa-tolerance', [READY, active(UTILIZATION), WITHIN]);
      expect(await sizeOf('hpa-tolerance')).toBe(2);
    });

    test('Pods that request nothing cannot be measured against it', async () => {
      const [pod] = await deploy('hpa-requests', 1, {});
      use([pod], { cpu: '10m' });
      await autoscale('hpa-requests', { metrics: [CPU] });
      const why = `failed to get cpu utilization: missing request for cpu in container c of Pod ${pod.metadata.name}`;
      await expectConditions('hpa-requests', [GOT_SCALE, inactive('FailedGetResourceMetric', why)]);
    });

    test('one metric that fails does not stop the others from making it grow', async () => {
      use(await deploy('hpa-partly', 1), { cpu: '100m', memory: '64Mi' });
      const memory = { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '32Mi' } } };
      const missing = { type: 'External', external: { metric: { name: 'missing' }, target: { type: 'Value', value: '1' } } };
      await autoscale('hpa-partly', { maxReplicas: 2, metrics: [missing, memory] });
      await vi.waitFor(async () => expect(await sizeOf('hpa-partly')).toBe(2), WAIT);
      await expectEvents('hpa-partly', [
        'Normal SuccessfulRescale: New size: 2; reason: memory resource above target',
        'Warning FailedGetExternalMetric: unable to get external metric hpa-partly/missing/nil: no metrics returned from external metrics API',
      ]);
      const hpa = await autoscalers('hpa-partly').get('web');
      expect(hpa.status.currentMetrics).toEqual([
        { type: '' },
        { type: 'Resource', resource: { name: 'memory', current: { averageValue: '64Mi' } } },
      ]);
    });

    test.each<[string, string, Json, string, Json, number]>([
      [
        'pods',
        'a custom metric of Pods',
        { type: 'Pods', pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '10' } } },
        'pods metric qps',
        { type: 'Pods', pods: { metric: { name: 'qps' }, current: { averageValue: '15' } } },
        3,
      ],
      [
        'object',
        'a custom metric of an object',
        {
          type: 'Object',
          object: {
            describedObject: { apiVersion: 'v1', kind: 'Service', name: 'front' },
            metric: { name: 'hits' },
            target: { type: 'Value', value: '2k' },
          },
        },
        'Service metric hits',
        {
          type: 'Object',
          object: {
            describedObject: { apiVersion: 'v1', kind: 'Service', name: 'front' },
            metric: { name: 'hits' },
            current: { value: '4k' },
          },
        },
        4,
      ],
      [
        'object-shared',
        'a custom metric of an object, shared',
        {
          type: 'Object',
          object: {
            describedObject: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
            metric: { name: 'load' },
            target: { type: 'AverageValue', averageValue: '1' },
          },
        },
        'external metric load(nil)',
        {
          type: 'Object',
          object: {
            describedObject: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
            metric: { name: 'load' },
            current: { averageValue: '1500m' },
          },
        },
        3,
      ],
      [
        'external',
        'an external metric',
        {
          type: 'External',
          external: { metric: { name: 'queue', selector: { matchLabels: { q: 'a' } } }, target: { type: 'Value', value: '10' } },
        },
        'external metric queue(&LabelSelector{MatchLabels:map[string]string{q: a,},MatchExpressions:[]LabelSelectorRequirement{},})',
        { type: 'External', external: { metric: { name: 'queue', selector: { matchLabels: { q: 'a' } } }, current: { value: '20' } } },
        4,
      ],
      [
        'external-shared',
        'an external metric, shared',
        { type: 'External', external: { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '5' } } },
        'external metric queue(nil)',
        { type: 'External', external: { metric: { name: 'queue' }, current: { averageValue: '10' } } },
        4,
      ],
      [
        'container',
        'a container’s CPU',
        {
          type: 'ContainerResource',
          containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 40 } },
        },
        'cpu container resource utilization (percentage of request)',
        {
          type: 'ContainerResource',
          containerResource: { name: 'cpu', container: 'c', current: { averageUtilization: 80, averageValue: '80m' } },
        },
        4,
      ],
    ])('%s: %s decides the size', async (short, _name, metric, called, current, size) => {
      const namespace = `hpa-${short}`;
      const pods = await deploy(namespace, 2);
      use(pods, { cpu: '80m' });
      for (const { metadata } of pods) metrics.custom.set(`${namespace}/pods/${metadata.name}/qps`, '15');
      metrics.custom.set(`${namespace}/services/front/hits`, '4k');
      metrics.custom.set(`${namespace}/deployments.apps/web/load`, '3');
      metrics.external.set(`${namespace}/queue`, ['15', '5']);
      await autoscale(namespace, { maxReplicas: 2, metrics: [metric] });
      const hpa = await expectConditions(namespace, [
        READY,
        active(called),
        'ScalingLimited True TooManyReplicas: the desired replica count is more than the maximum replica count',
      ]);
      expect(hpa.status.currentMetrics).toEqual([current]);
      await autoscalers(namespace).patch('web', { type: 'merge', patch: { spec: { maxReplicas: 10 } } });
      await expectEvents(namespace, [`Normal SuccessfulRescale: New size: ${size}; reason: ${called} above target`]);
    });

    test.each<[string, string, Json, string]>([
      [
        'target',
        'a target that is not there',
        { apiVersion: 'apps/v1', kind: 'Deployment', name: 'nothing' },
        'deployments.apps "nothing" not found',
      ],
      [
        'kind',
        'a kind that is not served',
        { apiVersion: 'apps/v1', kind: 'Gadget', name: 'web' },
        'no matches for kind "Gadget" in group "apps"',
      ],
    ])('%s: %s cannot be scaled', async (short, _name, scaleTargetRef, why) => {
      const namespace = `hpa-no-${short}`;
      await client.resource(Namespace).create({ metadata: { name: namespace } });
      await autoscale(namespace, { scaleTargetRef, metrics: [CPU] });
      await expectConditions(namespace, [
        `AbleToScale False FailedGetScale: the HPA controller was unable to get the target's current scale: ${why}`,
      ]);
      await expectEvents(namespace, [`Warning FailedGetScale: ${why}`]);
    });

    test('a target of size zero is left alone', async () => {
      await deploy('hpa-zero', 0);
      await autoscale('hpa-zero', { metrics: [CPU] });
      const hpa = await expectConditions('hpa-zero', [
        GOT_SCALE,
        'ScalingActive False ScalingDisabled: scaling is disabled since the replica count of the target is zero',
      ]);
      expect(hpa.status).toMatchObject({ desiredReplicas: 0 });
      expect(await sizeOf('hpa-zero')).toBe(0);
    });

    test.each<[string, number, Json, number, string]>([
      ['above', 4, { maxReplicas: 2 }, 2, 'Current number of replicas above Spec.MaxReplicas'],
      ['below', 1, { minReplicas: 3 }, 3, 'Current number of replicas below Spec.MinReplicas'],
    ])('a size %s the limits is brought within them', async (short, replicas, limits, size, why) => {
      const namespace = `hpa-${short}`;
      await deploy(namespace, replicas);
      await autoscale(namespace, { ...limits, metrics: [CPU] });
      await vi.waitFor(async () => expect(await sizeOf(namespace)).toBe(size), WAIT);
      await expectEvents(namespace, [`Normal SuccessfulRescale: New size: ${size}; reason: ${why}`]);
    });

    test('two autoscalers for the same Pods are told so', async () => {
      const namespace = 'hpa-two';
      use(await deploy(namespace, 1), { cpu: '50m' });
      await autoscale(namespace, { metrics: [CPU] });
      await expectConditions(namespace, [READY, active(UTILIZATION), WITHIN]);
      const { spec } = await autoscalers(namespace).get('web');
      await autoscalers(namespace).create({ metadata: { name: 'zweb' }, spec });
      await vi.waitFor(async () => {
        const { status } = await autoscalers(namespace).get('web');
        const condition = status.conditions.find((one: Json) => one.type === 'ScalingActive');
        expect(condition).toMatchObject({ status: 'False', reason: 'AmbiguousSelector' });
        expect(condition.message).toMatch(/^pods by selector app=web are controlled by multiple HPAs: \[hpa-two\/z?web hpa-two\/z?web\]$/);
      }, WAIT);
    });

    test('custom resources are scaled like any other', async () => {
      const namespace = 'hpa-custom';
      await client.resource(Namespace).create({ metadata: { name: namespace } });
      const widgets = client.resource<KubeObject>(Widget, namespace);
      await widgets.create({ metadata: { name: 'web' }, spec: { replicas: 2 } });
      await widgets.status.patch('web', { type: 'merge', patch: { status: { replicas: 2, selector: 'app=web' } } });
      metrics.external.set(`${namespace}/queue`, ['100']);
      const external = { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '25' } };
      const scaleTargetRef = { apiVersion: 'example.org/v1', kind: 'Widget', name: 'web' };
      await autoscale(namespace, { scaleTargetRef, metrics: [{ type: 'External', external }] });
      await vi.waitFor(async () => expect((await widgets.get('web')).spec.replicas).toBe(4), WAIT);
    });

    test('a scale without a selector cannot be used', async () => {
      const namespace = 'hpa-selector';
      await client.resource(Namespace).create({ metadata: { name: namespace } });
      await client.resource<KubeObject>(Widget, namespace).create({ metadata: { name: 'web' }, spec: { replicas: 2 } });
      await autoscale(namespace, { scaleTargetRef: { apiVersion: 'example.org/v1', kind: 'Widget', name: 'web' }, metrics: [CPU] });
      await expectConditions(namespace, [GOT_SCALE, "ScalingActive False InvalidSelector: the HPA target's scale is missing a selector"]);
      await expectEvents(namespace, ['Warning SelectorRequired: selector is required']);
    });
  });
}

function widgetDefinition(): Json {
  const integer = { type: 'integer' };
  const properties = {
    spec: { type: 'object', properties: { replicas: integer } },
    status: { type: 'object', properties: { replicas: integer, selector: { type: 'string' } } },
  };
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas', labelSelectorPath: '.status.selector' };
  return {
    metadata: { name: 'widgets.example.org' },
    spec: {
      group: 'example.org',
      scope: 'Namespaced',
      names: { kind: 'Widget', plural: 'widgets' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {}, scale },
          schema: { openAPIV3Schema: { type: 'object', properties } },
        },
      ],
    },
  };
}
