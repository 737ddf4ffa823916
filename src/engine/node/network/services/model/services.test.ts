import { describe, expect, it } from 'vitest';
import type { Json, KubeObject } from '../../../../../kube/object.ts';
import { NftTable } from '../../ruleset/nft-table.ts';
import { KernelTable } from '../../testing/kernel-table.ts';
import { servicePorts } from './service-endpoints.ts';
import { ServiceRules } from './service-rules.ts';

const service = (spec: Json): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default' },
  spec: { clusterIP: '10.0.0.5', clusterIPs: ['10.0.0.5'], ports: [{ name: 'http', port: 80 }], ...spec },
});
const slice = (endpoints: Json[], ports: Json[] = [{ name: 'http', port: 8080, protocol: 'TCP' }], addressType = 'IPv4'): KubeObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'web-1', namespace: 'default' },
  addressType,
  ports,
  endpoints,
});
const ready = (address: string, more: Json = {}): Json => ({ addresses: [address], conditions: { ready: true }, ...more });
const addresses = (spec: Json, slices: KubeObject[], node?: string) =>
  servicePorts(service(spec), slices, node).flatMap(({ endpoints }) => endpoints.map(({ address, port }) => `${address}:${port}`));

describe('the endpoints of a Service', () => {
  it.each<[string, Json, KubeObject[], string[]]>([
    [
      'are those that are ready',
      {},
      [slice([ready('10.1.0.1'), { addresses: ['10.1.0.2'], conditions: { ready: false } }])],
      ['10.1.0.1:8080'],
    ],
    ['are ready when nothing is said', {}, [slice([{ addresses: ['10.1.0.1'] }])], ['10.1.0.1:8080']],
    [
      'are those that still serve, when none is ready',
      {},
      [slice([{ addresses: ['10.1.0.1'], conditions: { ready: false, serving: true, terminating: true } }])],
      ['10.1.0.1:8080'],
    ],
    ['are counted once', {}, [slice([ready('10.1.0.1')]), slice([ready('10.1.0.1')])], ['10.1.0.1:8080']],
    ['have the port of the same name', { ports: [{ name: 'other', port: 80 }] }, [slice([ready('10.1.0.1')])], []],
    ['have IPv4 addresses', {}, [slice([ready('fd00::1')], undefined, 'IPv6')], []],
    ['are none for names of elsewhere', { type: 'ExternalName' }, [slice([ready('10.1.0.1')])], []],
    ['are none for headless Services', { clusterIP: 'None', clusterIPs: ['None'] }, [slice([ready('10.1.0.1')])], []],
    [
      'are local, when only those are wanted',
      { internalTrafficPolicy: 'Local' },
      [slice([ready('10.1.0.1', { nodeName: 'here' }), ready('10.1.0.2', { nodeName: 'there' })])],
      ['10.1.0.1:8080'],
    ],
  ])('%s', (_, spec, slices, expected) => {
    expect(addresses(spec, slices, 'here')).toEqual(expected);
  });
});

describe('ServiceRules', () => {
  const make = () => {
    const table = new NftTable('t', '');
    const rules = new ServiceRules(table, new Set(['10.0.0.1']));
    const kernel = new KernelTable();
    kernel.apply(table.takeWhole());
    const set = (spec: Json, slices: KubeObject[]): boolean => {
      const changed = rules.set('default/web', servicePorts(service(spec), slices));
      kernel.apply(table.takeChanges());
      return changed;
    };
    return { rules, kernel, set };
  };

  it('pick any endpoint', () => {
    const { kernel, set } = make();
    set({}, [slice([ready('10.1.0.1'), ready('10.1.0.2')])]);
    const [[key, verdict]] = kernel.sets.get('services')!;
    expect(key).toBe('10.0.0.5 . tcp . 80');
    expect(kernel.chains.get(verdict.slice('goto '.length))).toEqual([
      'meta l4proto tcp dnat ip to numgen random mod 2 map { 0 : 10.1.0.1 . 8080, 1 : 10.1.0.2 . 8080 }',
    ]);
  });

  it('write nothing when nothing changed, and clear up when it is all gone', () => {
    const { rules, kernel, set } = make();
    const slices = [slice([ready('10.1.0.1')])];
    expect([set({}, slices), set({}, slices)]).toEqual([true, false]);
    expect(set({}, [])).toBe(true);
    expect(rules.delete('default/web')).toBe(false);
    expect([kernel.sets.get('services')!.size, kernel.chains.size]).toEqual([0, 0]);
  });

  it('keep the memory of the endpoints that stay, with affinity', () => {
    const { kernel, set } = make();
    const sticky = { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } };
    set(sticky, [slice([ready('10.1.0.1'), ready('10.1.0.2')])]);
    const memories = () => [...kernel.sets.keys()].filter((name) => name.startsWith('clients_'));
    const both = memories();
    set(sticky, [slice([ready('10.1.0.2')])]);
    expect(both).toHaveLength(2);
    expect(memories()).toHaveLength(1);
    expect(both).toContain(memories()[0]);
    set({}, [slice([ready('10.1.0.2')])]);
    expect(memories()).toEqual([]);
  });

  it('leave out endpoints on loopback, and the addresses that the router answers itself', () => {
    const { kernel, set } = make();
    set({}, [slice([ready('127.0.0.1')])]);
    expect(kernel.sets.get('services')!.size).toBe(0);
    set({ clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] }, [slice([ready('10.1.0.1')])]);
    expect(kernel.sets.get('services')!.size).toBe(0);
  });
});
