import { expect, test } from 'vitest';
import { bootstrapObjects } from './bootstrap.ts';

test('bootstrap objects lead to this server and its range of addresses', () => {
  const objects = bootstrapObjects({ port: 7443, clusterIpRange: '10.7.0.0/16', clusterIp: '10.7.0.1' });
  const service = objects.find(({ kind }) => kind === 'Service')!;
  expect(service['spec']).toMatchObject({ clusterIP: '10.7.0.1', clusterIPs: ['10.7.0.1'], ports: [{ port: 443, targetPort: 7443 }] });
  expect(objects.find(({ kind }) => kind === 'ServiceCIDR')!['spec']).toEqual({ cidrs: ['10.7.0.0/16'] });
});

test('bootstrap objects begin with the namespaces that the others need', () => {
  const names = bootstrapObjects({ port: 1 }).map(({ metadata }) => metadata.name);
  expect(names.slice(0, 4)).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system']);
});
