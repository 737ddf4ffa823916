import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubeVirtObjects } from '../../src/areas/clusters/machines/kubevirt/virtual-machine.ts';
import { aMachine } from '../../src/areas/clusters/machines/testing/a-machine.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { runCommand } from '../../src/lib/run-command.ts';
import { binary } from './binaries.ts';

const SCHEMA = 'test/cluster/kubevirt/generated/virtual-machine.schema.json';

/** KubeVirt's own, as far as an API server needs it to judge objects. */
function definition(): object {
  const { schema } = JSON.parse(readFileSync(SCHEMA, 'utf8')) as { schema: object };
  const names = { plural: 'virtualmachines', singular: 'virtualmachine', kind: 'VirtualMachine', listKind: 'VirtualMachineList' };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'virtualmachines.kubevirt.io' },
    spec: {
      group: 'kubevirt.io',
      scope: 'Namespaced',
      names,
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}

describe('workers as objects of KubeVirt', () => {
  let server: ControlPlane;
  const options = {
    namespace: 'default',
    image: 'registry.example/worker:1',
    attachment: 'tenantry-acme--default',
    annotations: { 'x.y/z': 'w' },
  };
  const kubectl = async (args: string[], input = '') =>
    runCommand(await binary('kubectl'), ['--kubeconfig', server.kubeconfig, ...args], { input });
  const apply = (object: object) => kubectl(['create', '--validate=strict', '-f', '-'], JSON.stringify(object));

  /** A while after its definition was taken. */
  const served = async (): Promise<void> => {
    for (const deadline = performance.now() + 60_000; ;) {
      const found = await kubectl(['get', 'virtualmachines']).then(
        () => true,
        (error: Error) => {
          if (performance.now() > deadline) throw error;
          return false;
        },
      );
      if (found) return;
    }
  };

  beforeAll(async () => {
    server = await startControlPlane();
    await apply(definition());
    await served();
  }, 600_000);

  afterAll(() => server?.stop());

  it('are taken by an API server that refuses fields KubeVirt does not know', async () => {
    for (const object of kubeVirtObjects(aMachine(), options)) await apply(object);
    const [, machine] = kubeVirtObjects(aMachine({ id: 'other' }), { ...options, storageClass: 'fast' });
    await apply(machine);
    (machine['spec'] as Record<string, unknown>)['runStrategie'] = 'Always';
    machine.metadata.name = 'wrong';
    await expect(apply(machine)).rejects.toThrow(/unknown field "spec.runStrategie"/);
  }, 60_000);
});
