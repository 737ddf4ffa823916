import { describe, expect, test } from 'vitest';
import type { Target } from '../installation/model/target.ts';
import { networkPolicies } from '../network/network-policies.ts';
import { autoscalers, deployment, services } from './deployment.ts';
import { limitRange, resourceQuota } from './limits.ts';
import { restartsOf, workloadHealth } from './workload-health.ts';

const target = (spec: object = {}, isSuspended = false, number = '1.0.0'): Target => {
  const resources = { requests: { cpu: '0.1', memory: '64Mi' }, limits: { cpu: '500m', memory: '128Mi' } };
  const { runtime, ...rest } = spec as { runtime?: object };
  const manifest = { spec: { runtime: { resources, startupProbe: { path: '/health', port: 8080 }, ...runtime }, ...rest } };
  const version = { spec: { version: number } };
  return {
    tenant: 'school',
    plugin: 'hello',
    publisher: 'acme',
    namespace: 'ns',
    installation: 'hello',
    isSuspended,
    version,
    manifest,
  } as never;
};
const input = { image: 'x@sha256:1', secrets: { items: [], env: [], data: {} }, hasDatabase: false, hasEvents: false };

describe('a plugin’s workload', () => {
  test('cannot take the names of the platform’s variables', () => {
    const { env } = deployment(target({ runtime: { env: { TENANT_ID: 'other', MODE: 'fast' } } }), input).spec.template.spec.containers[0];
    expect(env.filter(({ name }: { name: string }) => name === 'TENANT_ID')).toEqual([{ name: 'TENANT_ID', value: 'school' }]);
    expect(env).toContainEqual({ name: 'MODE', value: 'fast' });
  });
  test('writes amounts as the API server does', () => {
    expect(deployment(target(), input).spec.template.spec.containers[0].resources.requests).toEqual({ cpu: '100m', memory: '64Mi' });
  });
  test('leaves the number of replicas to the autoscaler where there is one', () => {
    const scaled = target({ runtime: { replicas: { min: 2, max: 4 } } });
    expect(deployment(scaled, input).spec).not.toHaveProperty('replicas');
    expect(autoscalers(scaled)[0].spec).toMatchObject({ minReplicas: 2, maxReplicas: 4 });
    expect(autoscalers(target({ runtime: { replicas: { min: 2, max: 4 } } }, true))).toEqual([]);
    expect(deployment(target({ runtime: { replicas: { min: 2 } } }), input).spec.replicas).toBe(2);
  });
  test('starts anew when a secret that is a variable changes', () => {
    const withSecret = (value: string) =>
      deployment(target(), { ...input, secrets: { items: [], env: [{ name: 'A', key: 'a' }], data: { a: value } } });
    const annotations = (value: string) => withSecret(value).spec.template.metadata.annotations;
    expect(annotations('1')).not.toEqual(annotations('2'));
  });
  test('has no Service without a port', () => {
    expect(services(target({ runtime: { startupProbe: undefined } }))).toEqual([]);
  });
  test('may have one Pod more than its most', () => {
    const wanted = target({ runtime: { replicas: { max: 3 } } });
    expect(resourceQuota(wanted, [wanted]).spec.hard).toMatchObject({ pods: '4', 'requests.cpu': '400m', 'limits.memory': '512Mi' });
  });
  test('may have the Pods of two versions, the larger ones too, while one takes over', () => {
    const large = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '64Mi' } };
    const [wanted, old] = [target({}, false, '1.1.0'), target({ runtime: { resources: large } })];
    expect(resourceQuota(wanted, [wanted, old]).spec.hard).toMatchObject({ pods: '3', 'requests.cpu': '1200m', 'limits.cpu': '3' });
    expect(limitRange(wanted, [wanted, old]).spec.limits[0]).toMatchObject({
      max: { cpu: '2', memory: '128Mi' },
      default: { cpu: '500m', memory: '128Mi' },
    });
  });
  test('has names and Pods of its own for every version', () => {
    const [old, next] = [deployment(target(), input), deployment(target({}, false, '1.1.0-rc.1'), input)];
    expect(old.metadata.name).toBe('plugin-1-0-0');
    expect(next.metadata.name).toMatch(/^plugin-1-1-0-rc-1-[0-9a-f]{10}$/);
    expect(old.spec.selector.matchLabels).not.toEqual(next.spec.selector.matchLabels);
    expect(old.spec.template.metadata.labels).toMatchObject(old.spec.selector.matchLabels);
    expect(services(target())[0].spec.selector).toEqual(old.spec.selector.matchLabels);
  });
});

describe('networkPolicies', () => {
  test('let out what is declared and no more', () => {
    const egress = { to: ['gateway', 'otlp'], cidrs: [{ cidr: '203.0.113.0/24', ports: [443] }] };
    const [deny, out, into] = networkPolicies(target({ egress }), [{ cidr: '10.0.0.5/32', port: 5432 }]);
    expect(deny.spec).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
    expect(out.spec.egress).toHaveLength(5);
    expect(out.spec.egress[1].to[0].namespaceSelector).toEqual({
      matchLabels: { 'target.plugins.tenantry.dev/gateway': 'true' },
      matchExpressions: [{ key: 'tenantry.dev/tenant', operator: 'DoesNotExist' }],
    });
    expect(out.spec.egress[3]).toEqual({ to: [{ ipBlock: { cidr: '203.0.113.0/24' } }], ports: [{ protocol: 'TCP', port: 443 }] });
    expect(into.spec.ingress[0].ports).toEqual([{ protocol: 'TCP', port: 8080 }]);
  });
  test('let out DNS alone when nothing is declared', () => {
    expect(networkPolicies(target())[1].spec.egress).toHaveLength(1);
  });
  test('let two versions do what either declares, each once', () => {
    const [wanted, old] = [target({ egress: { to: ['gateway'] } }), target({ egress: { to: ['otlp', 'gateway'] } })];
    const [, out, into] = networkPolicies(wanted, [], [wanted, old]);
    expect(out.spec.egress).toHaveLength(3);
    expect(into.spec.ingress[0].ports).toHaveLength(1);
  });
});

describe('workloadHealth', () => {
  const now = Date.parse('2026-01-01T00:01:00Z');
  const found = (status: object, generation = 2) =>
    ({ metadata: { generation }, spec: { replicas: 2 }, status: { observedGeneration: 2, ...status } }) as never;
  const refusal = (message: string, at: string) => [
    { type: 'ReplicaFailure', status: 'True', message, lastTransitionTime: `2026-01-01T00:${at}Z` },
  ];
  const late = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }];
  test.each<[string, never, number, string, string]>([
    ['not seen yet', undefined as never, 0, 'waiting', 'RollingOut'],
    ['of an older generation', found({}, 3), 0, 'waiting', 'RollingOut'],
    ['under way', found({ replicas: 3, updatedReplicas: 1, availableReplicas: 3 }), 4, 'waiting', 'RollingOut'],
    ['with Pods of before left', found({ replicas: 3, updatedReplicas: 2, availableReplicas: 3 }), 0, 'waiting', 'RollingOut'],
    ['complete', found({ replicas: 2, updatedReplicas: 2, availableReplicas: 2 }), 9, 'done', 'Available'],
    ['started again and again', found({ replicas: 2, updatedReplicas: 2 }), 5, 'stalled', 'CrashLooping'],
    ['refused by admission', found({ conditions: refusal('denied the request', '00:59') }), 0, 'stalled', 'AdmissionDenied'],
    ['out of quota a moment ago', found({ conditions: refusal('exceeded quota: plugin', '00:50') }), 0, 'waiting', 'RollingOut'],
    ['out of quota for long', found({ conditions: refusal('exceeded quota: plugin', '00:30') }), 0, 'stalled', 'AdmissionDenied'],
    ['too late', found({ conditions: late }), 0, 'stalled', 'NotStarting'],
  ])('a Deployment that is %s', (_, deployed, restarts, type, reason) => {
    expect(workloadHealth(deployed, restarts, now)).toMatchObject({ type, reason });
  });
  test('restarts are those of the container that has most', () => {
    const pod = (...counts: number[]) => ({ status: { containerStatuses: counts.map((restartCount) => ({ restartCount })) } }) as never;
    expect(restartsOf([pod(1, 3), pod(2)], now)).toBe(3);
    expect(restartsOf([], now)).toBe(0);
  });
  const ago = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
  test.each<[string, object, number]>([
    ['is ready', { ready: true }, 0],
    ['has run for long, and does not answer at the moment', { ready: false, state: { running: { startedAt: ago(60) } } }, 0],
    ['ended after it had run for long', { lastState: { terminated: { startedAt: ago(90), finishedAt: ago(1) } } }, 1],
    ['ended soon after it was started', { lastState: { terminated: { startedAt: ago(2), finishedAt: ago(1) } } }, 7],
    ['was started a moment ago', { state: { running: { startedAt: ago(0.1) } } }, 7],
  ])('restarts are those one after the other: a container that was started 7 times in months and %s', (_, given, expected) => {
    expect(restartsOf([{ status: { containerStatuses: [{ restartCount: 7, ...given }] } } as never], now)).toBe(expected);
  });
  test.each([
    ['Internal error occurred: failed calling webhook "x": Post "https://x": context deadline exceeded', 'waiting'],
    ['pods "a" is forbidden: error looking up service account ns/plugin: serviceaccount "plugin" not found', 'waiting'],
    ['admission webhook "x" denied the request: no', 'stalled'],
    ['pods "a" is forbidden: violates PodSecurity "restricted:latest"', 'stalled'],
    ["ValidatingAdmissionPolicy 'x' with binding 'x' denied request: not this one", 'stalled'],
  ])('Pods that cannot be made because of “%s”: %s', (message, type) => {
    expect(workloadHealth(found({ conditions: refusal(message, '00:30') }), 0, now).type).toBe(type);
  });
});
