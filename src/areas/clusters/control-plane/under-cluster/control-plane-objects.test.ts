import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { controlPlaneObjects, type UnderClusterPlane } from './control-plane-objects.ts';
import { aPlane } from './testing/some-plane.ts';

const objects = (changes: Partial<UnderClusterPlane> = {}) => controlPlaneObjects(aPlane(changes));
const find = (list: KubeObject[], kind: string, name: string) => {
  const found = list.find((object) => object.kind === kind && object.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
};
const checksums = (list: KubeObject[]) =>
  Object.fromEntries(
    list
      .filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
      .map(({ metadata, spec }) => [metadata.name, spec.template.metadata.annotations['tenantry.dev/checksum-keys']]),
  );

describe('controlPlaneObjects', () => {
  it('has a part for each program, with a budget and a policy of its own', () => {
    const names = objects().map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    for (const part of ['etcd', 'apiserver', 'controller-manager', 'scheduler']) {
      expect(names).toContain(`PodDisruptionBudget dev-${part}`);
      expect(names).toContain(`NetworkPolicy dev-${part}`);
      expect(names).toContain(`Secret dev-${part}-keys`);
    }
    expect(new Set(names).size).toBe(names.length);
  });

  it('gives the key of the authority to the controllers alone', () => {
    const holders = objects().filter(({ stringData }) => stringData?.['ca.key'] !== undefined);
    expect(holders.map(({ metadata }) => metadata.name)).toEqual(['dev-controller-manager-keys']);
    const all = objects().filter(({ kind }) => kind === 'Secret');
    for (const name of ['front-proxy-ca.key', 'etcd-ca.key', 'admin.key', 'owner-0.key']) {
      expect(all.every(({ stringData }) => stringData[name] === undefined)).toBe(true);
    }
  });

  it('rolls what uses a key that changed, and nothing else', () => {
    const before = checksums(objects());
    const after = checksums(objects({ keys: { ...aPlane().keys, 'scheduler.crt': 'renewed' } }));
    expect(Object.keys(before).filter((name) => before[name] !== after[name])).toEqual(['dev-scheduler']);
  });

  it('names all members of a store with several, and lets one of several lead', () => {
    const list = objects({ replicas: 2, etcdReplicas: 3 });
    const { spec } = find(list, 'StatefulSet', 'dev-etcd');
    const command = spec.template.spec.containers[0].command as string[];
    expect(command.find((word) => word.startsWith('--initial-cluster='))!.split(',')).toHaveLength(3);
    const manager = find(list, 'Deployment', 'dev-controller-manager').spec.template.spec.containers[0];
    expect(manager.command).toContain('--leader-elect=true');
  });

  it('opens the API server and the tunnel to the named ranges, the store to nobody outside', () => {
    const list = objects({ sources: ['10.0.1.0/24'] });
    const sources = ({ spec }: KubeObject) => JSON.stringify(spec.ingress).match(/ipBlock/g)?.length ?? 0;
    expect(sources(find(list, 'NetworkPolicy', 'dev-apiserver'))).toBe(1);
    expect(sources(find(list, 'NetworkPolicy', 'dev-etcd'))).toBe(0);
    expect(sources(find(objects({ sources: [] }), 'NetworkPolicy', 'dev-apiserver'))).toBe(0);
  });

  it('says which key is missing', () => {
    expect(() => objects({ keys: {} })).toThrow('Cannot make the objects of control plane "dev": its key file "etcd-ca.crt" is missing');
  });
});
