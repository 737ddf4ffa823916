import type { WantedMachine } from '../machines.ts';

/** For tests: a worker of which only what a test is about has to be said. */
export function aMachine(changes: Partial<WantedMachine> = {}): WantedMachine {
  return {
    id: 'dev-w-48hvs',
    cluster: '6f0c1f5e-0000-4000-8000-000000000001',
    name: 'dev-w-48hvs',
    cpus: 2,
    memoryBytes: 2 * 1024 ** 3,
    diskBytes: 10 * 1024 ** 3,
    network: {
      device: { name: 'tap0', namespace: '/run/netns/router' },
      mac: '02:ca:0a:00:01:14',
      address: '10.0.1.20/24',
      gateway: '10.0.1.1',
      dns: ['10.0.1.1'],
    },
    join: {
      server: 'https://100.64.0.1:6443',
      authorityPem: 'PEM',
      token: 'abcdef.0123456789abcdef',
      tunnel: { address: '100.64.0.1', port: 8132 },
    },
    settings: { 'service-range': '10.96.0.0/16' },
    ...changes,
  };
}
