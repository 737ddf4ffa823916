import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { aNamespace, aPod, aRequest, refusalOf } from '../testing/a-request.ts';
import { ObjectsInMemory } from '../testing/objects-in-memory.ts';
import { podSecurity, type PodSecurityOptions } from './pod-security.ts';

const NAMESPACES = { group: '', resource: 'namespaces' };
const PODS = { group: '', resource: 'pods' };
const label = (name: string) => `pod-security.kubernetes.io/${name}`;
const HOST_NETWORK = aPod({ hostNetwork: true });

function inNamespace(labels: Record<string, string>, options: Partial<PodSecurityOptions> = {}) {
  const objects = new ObjectsInMemory();
  objects.put(NAMESPACES, aNamespace('team', labels));
  return { objects, plugin: podSecurity({ reader: objects, ...options }) };
}

function aDeployment(pod: KubeObject): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd', namespace: 'team' },
    spec: { template: { metadata: {}, spec: pod.spec } },
  };
}

describe('podSecurity on pods', () => {
  it('refuses what the enforced level forbids', async () => {
    const { plugin } = inNamespace({ [label('enforce')]: 'baseline' });
    const request = aRequest('pods', HOST_NETWORK);
    expect(await refusalOf(() => plugin.validate!(request))).toBe(
      'pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)',
    );
    expect(request.annotations).toEqual({ [label('enforce-policy')]: 'baseline:latest' });
    expect(request.warnings).toEqual([]);
  });

  it('warns and audits what those levels forbid', () => {
    const { plugin } = inNamespace({ [label('warn')]: 'baseline', [label('audit')]: 'baseline', [label('audit-version')]: 'v1.20' });
    const request = aRequest('pods', HOST_NETWORK);
    void plugin.validate!(request);
    expect(request.warnings).toEqual(['would violate PodSecurity "baseline:latest": host namespaces (hostNetwork=true)']);
    expect(request.annotations[label('audit-violations')]).toBe(
      'would violate PodSecurity "baseline:v1.20": host namespaces (hostNetwork=true)',
    );
  });

  it('admits everything in a namespace without labels', () => {
    const request = aRequest('pods', HOST_NETWORK);
    void inNamespace({}).plugin.validate!(request);
    expect(request.annotations).toEqual({ [label('enforce-policy')]: 'privileged:latest' });
  });

  it('treats an unreadable enforce level as restricted', async () => {
    const { plugin } = inNamespace({ [label('enforce')]: 'strict' });
    expect(await refusalOf(() => plugin.validate!(aRequest('pods', HOST_NETWORK)))).toContain('violates PodSecurity "restricted:latest"');
  });

  it('looks at updates only when they change images', async () => {
    const { plugin } = inNamespace({ [label('enforce')]: 'baseline' });
    const labelled = aRequest('pods', HOST_NETWORK, { operation: 'UPDATE', oldObject: HOST_NETWORK });
    void plugin.validate!(labelled);
    const newImage = aPod({ hostNetwork: true, containers: [{ name: 'c', image: 'other' }] });
    const changed = aRequest('pods', newImage, { operation: 'UPDATE', oldObject: HOST_NETWORK });
    expect(await refusalOf(() => plugin.validate!(changed))).toContain('violates PodSecurity');
  });

  it.each([
    ['namespace', { namespaces: ['team'] }, {}],
    ['user', { usernames: ['jane'] }, {}],
    ['runtimeClass', { runtimeClasses: ['vm'] }, { runtimeClassName: 'vm' }],
  ])('exempts by %s', (reason, exemptions, spec) => {
    const { plugin } = inNamespace({ [label('enforce')]: 'restricted' }, { exemptions });
    const request = aRequest('pods', aPod({ hostNetwork: true, ...spec }));
    void plugin.validate!(request);
    expect(request.annotations).toEqual({ [label('exempt')]: reason });
  });
});

describe('podSecurity on workloads', () => {
  it('warns about pod templates at the enforced level and admits them', () => {
    const { plugin } = inNamespace({ [label('enforce')]: 'baseline' });
    const request = aRequest('deployments', aDeployment(HOST_NETWORK));
    expect(plugin.handles(request)).toBe(true);
    void plugin.validate!(request);
    expect(request.warnings).toEqual(['would violate PodSecurity "baseline:latest": host namespaces (hostNetwork=true)']);
  });
});

describe('podSecurity on namespaces', () => {
  it('refuses labels it cannot read', async () => {
    const request = aRequest('namespaces', aNamespace('team', { [label('enforce')]: 'strict', [label('warn-version')]: '1.30' }));
    expect(await refusalOf(() => inNamespace({}).plugin.validate!(request))).toBe(
      'Namespace "team" is invalid: [metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted, ' +
        'metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: "1.30": must be "latest" or "v1.x"]',
    );
  });

  it('warns about existing pods when the enforced level becomes stricter', async () => {
    const { objects, plugin } = inNamespace({});
    for (const name of ['web-2', 'web-1', 'web-3']) objects.put(PODS, aPod({ hostNetwork: true }, { name }));
    objects.put(PODS, aPod({ hostPID: true }, { name: 'agent' }));
    objects.put(PODS, aPod({ containers: [{ name: 'c', securityContext: { privileged: true } }] }, { name: 'root' }));
    objects.put(PODS, aPod({}, { name: 'fine' }));
    const request = aRequest('namespaces', aNamespace('team', { [label('enforce')]: 'baseline' }), {
      operation: 'UPDATE',
      oldObject: aNamespace('team'),
    });
    await plugin.validate!(request);
    expect(request.warnings).toEqual([
      'existing pods in namespace "team" violate the new PodSecurity enforce level "baseline:latest"',
      'agent (and 3 other pods): host namespaces',
      'root: privileged',
    ]);
  });

  it('says nothing when the enforced level is relaxed or kept', () => {
    const strict = aNamespace('team', { [label('enforce')]: 'restricted' });
    const baseline = aNamespace('team', { [label('enforce')]: 'baseline' });
    const { plugin } = inNamespace({});
    for (const [object, oldObject] of [
      [baseline, strict],
      [strict, strict],
    ]) {
      const request = aRequest('namespaces', object, { operation: 'UPDATE', oldObject });
      expect(plugin.validate!(request)).toBeUndefined();
    }
  });

  it('warns that the labels of an exempt namespace have no effect', () => {
    const { plugin } = inNamespace({}, { exemptions: { namespaces: ['team'] } });
    const request = aRequest('namespaces', aNamespace('team', { [label('enforce')]: 'baseline' }));
    void plugin.validate!(request);
    expect(request.warnings).toEqual([
      'namespace "team" is exempt from Pod Security, and the policy (enforce=baseline:latest) will be ignored',
    ]);
  });
});
