import { describe, expect, it } from 'vitest';
import { PROGRAM_NAMES } from './program-plan.ts';
import { programPlan, type PlaneLayout } from './programs.ts';

const LAYOUT: PlaneLayout = {
  paths: Object.fromEntries(PROGRAM_NAMES.map((name) => [name, `/programs/${name}`])) as PlaneLayout['paths'],
  innerAddress: '127.0.0.1',
  listenAddress: '0.0.0.0',
  advertisedAddress: '100.66.0.3',
  port: 20_001,
  tunnelPort: 20_002,
  innerPorts: [20_003, 20_004],
  withParent: ['setpriv'],
  endpointAddresses: ['127.0.0.1', '100.66.0.3'],
  etcdutl: '/programs/etcdutl',
  replicas: 1,
};
const argumentsOf = (name: string, layout = LAYOUT) => programPlan(layout).programs.find((program) => program.name === name)!.args;

describe('programPlan', () => {
  it('starts the store first, and what asks the API server once that is ready', () => {
    const { programs, server } = programPlan(LAYOUT);
    expect(programs.map(({ name }) => name)).toEqual(PROGRAM_NAMES);
    expect(programs.filter(({ afterReady }) => afterReady).map(({ name }) => name)).toEqual(['kube-controller-manager', 'kube-scheduler']);
    expect(server).toEqual({ address: '127.0.0.1', port: 20_001 });
  });

  it('has the store and the way to nodes in files of the cluster, never on a port', () => {
    const all = programPlan(LAYOUT).programs.flatMap(({ args }) => args);
    expect(all.filter((argument) => /listen-(client|peer)-urls/.test(argument)).every((argument) => argument.includes('=unixs://'))).toBe(
      true,
    );
    expect(argumentsOf('konnectivity-server')).toContain('--uds-name=konnectivity.sock');
    expect(argumentsOf('etcd')).toContain('--client-cert-auth');
  });

  it('tells nodes no address that only this machine has', () => {
    expect(argumentsOf('kube-apiserver')).toContain('--advertise-address=100.66.0.3');
    expect(argumentsOf('kube-apiserver', { ...LAYOUT, advertisedAddress: '127.0.0.1' })).toContain('--endpoint-reconciler-type=none');
  });

  it('leaves it to the platform who becomes a node', () => {
    expect(argumentsOf('kube-controller-manager').join(' ')).toContain('-certificatesigningrequest-approving-controller');
    expect(argumentsOf('kube-apiserver')).toContain('--authorization-mode=Node,RBAC');
  });

  it('has three of each behind one endpoint, of which the first API server starts alone and one controller leads', () => {
    const { programs, balancer, store } = programPlan({ ...LAYOUT, replicas: 3 });
    const early = programs.filter(({ afterReady }) => !afterReady).map(({ name, replica }) => `${name} ${replica ?? ''}`.trim());
    expect(early).toEqual(['etcd 0', 'etcd 1', 'etcd 2', 'kube-apiserver 0', 'konnectivity-server']);
    expect(programs).toHaveLength(13);
    expect(balancer).toEqual({
      listen: ['127.0.0.1', '100.66.0.3'],
      port: 20_001,
      backends: ['127.0.0.2', '127.0.0.3', '127.0.0.4'],
    });
    expect(store.members).toBe(3);
    const [first] = programs.filter(({ name }) => name === 'kube-apiserver');
    expect(first.args).toContain('--etcd-servers=unixs://etcd:0,unixs://etcd:1,unixs://etcd:2');
    // What nodes are told is the endpoint, which all of them have.
    expect(first.args).toContain('--advertise-address=100.66.0.3');
    expect(first.args).toContain('--secure-port=20001');
    expect(programs.find(({ name }) => name === 'kube-scheduler')!.args).toContain('--leader-elect=true');
  });
});
