import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { StatusError } from '../../../kube/status.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { aNamespace, aRequest, refusalOf } from './testing/a-request.ts';
import { ObjectsInMemory } from './testing/objects-in-memory.ts';

const NAMESPACES = { group: '', resource: 'namespaces' };
const configMap = (namespace: string): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace } });

function plugin() {
  const objects = new ObjectsInMemory();
  objects.put(NAMESPACES, aNamespace('team'));
  objects.put(NAMESPACES, aNamespace('leaving', {}, 'Terminating'));
  return namespaceLifecycle(objects);
}

describe('namespaceLifecycle', () => {
  it('admits a create in a namespace that is there', () => {
    void plugin().mutate!(aRequest('configmaps', configMap('team')));
  });

  it('refuses with NotFound in a namespace that is not there', async () => {
    const refused = await refusalOf(() => plugin().mutate!(aRequest('configmaps', configMap('gone'))));
    expect(refused).toBe('namespaces "gone" not found');
  });

  it('refuses creates with the cause NamespaceTerminating in a namespace on its way out', () => {
    try {
      void plugin().mutate!(aRequest('configmaps', configMap('leaving')));
      expect.unreachable();
    } catch (error) {
      const status = (error as StatusError).status;
      expect(status.message).toBe(
        'configmaps "a" is forbidden: unable to create new content in namespace leaving because it is being terminated',
      );
      expect(status.details!.causes).toEqual([
        { reason: 'NamespaceTerminating', message: 'namespace leaving is being terminated', field: 'metadata.namespace' },
      ]);
    }
  });

  it('admits updates in a namespace on its way out', () => {
    const object = configMap('leaving');
    void plugin().mutate!(aRequest('configmaps', object, { operation: 'UPDATE', oldObject: object }));
  });

  it.each(['default', 'kube-system', 'kube-public'])('refuses to delete %s', async (name) => {
    const request = aRequest('namespaces', undefined, { operation: 'DELETE', oldObject: aNamespace(name) });
    expect(plugin().handles(request)).toBe(true);
    expect(await refusalOf(() => plugin().mutate!(request))).toBe(`namespaces "${name}" is forbidden: this namespace may not be deleted`);
  });

  it('has nothing to say on cluster-scoped objects and on deletes', () => {
    const clusterRole = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'a' } };
    expect(plugin().handles(aRequest('clusterroles', clusterRole))).toBe(false);
    const remove = aRequest('configmaps', undefined, { operation: 'DELETE', oldObject: configMap('gone') });
    expect(plugin().handles(remove)).toBe(false);
  });
});
