import { describe, expect, it } from 'vitest';
import { aMachine } from '../testing/a-machine.ts';
import { kubeVirtObjects } from './virtual-machine.ts';

const options = {
  namespace: 'tenant-acme',
  image: 'registry.example/worker:1',
  attachment: 'tenantry-acme--default',
  annotations: { a: 'b' },
};

describe('kubeVirtObjects', () => {
  const [secret, machine] = kubeVirtObjects(aMachine(), options);
  const spec = machine['spec'] as { template: { metadata: object; spec: Record<string, unknown> }; dataVolumeTemplates: object[] };

  it('gives a worker the segment of its tenant as its only network', () => {
    expect(spec.template.spec['networks']).toEqual([{ name: 'vpc', multus: { networkName: 'tenantry-acme--default' } }]);
    expect(spec.template.metadata).toMatchObject({ annotations: { a: 'b' } });
    expect((spec.template.spec['domain'] as { devices: object }).devices).toMatchObject({
      interfaces: [{ name: 'vpc', bridge: {}, macAddress: '02:ca:0a:00:01:14' }],
    });
  });

  it('keeps the token in the Secret, and nowhere else', () => {
    expect(JSON.stringify(secret)).toContain('abcdef.0123456789abcdef');
    expect(JSON.stringify(machine)).not.toContain('abcdef');
    expect(secret.metadata.namespace).toBe('tenant-acme');
  });

  it('tells cloud-init what the worker of this product reads', () => {
    const { userdata, networkdata } = secret['stringData'] as { userdata: string; networkdata: string };
    const [first, text] = userdata.split('\n', 2);
    expect(first).toBe('#cloud-config');
    const { write_files: files } = JSON.parse(text) as { write_files: { content: string }[] };
    expect(JSON.parse(files[0].content)).toEqual({
      ...aMachine().join,
      name: 'dev-w-48hvs',
      address: '10.0.1.20',
      settings: { 'service-range': '10.96.0.0/16' },
    });
    expect(JSON.parse(networkdata)).toMatchObject({ version: 2, ethernets: { vpc: { addresses: ['10.0.1.20/24'] } } });
  });

  it('makes a disk of its own, which goes with it', () => {
    expect(spec.dataVolumeTemplates).toEqual([
      {
        metadata: { name: 'dev-w-48hvs-disk' },
        spec: { source: { blank: {} }, storage: { resources: { requests: { storage: '10737418240' } } } },
      },
    ]);
  });
});
