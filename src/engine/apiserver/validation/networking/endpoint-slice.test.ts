import { expect, test } from 'vitest';
import { Findings } from '../findings.ts';
import { validateEndpoints } from '../core/endpoints.ts';
import { validateEndpointSlice } from './endpoint-slice.ts';

test.each([
  ['10.0.0.1', []],
  ['127.64.0.1', []],
  ['127.127.255.254', []],
  ['127.0.0.1', ['may not be in the loopback range (127.0.0.0/8, ::1/128)']],
  ['127.63.255.255', ['may not be in the loopback range (127.0.0.0/8, ::1/128)']],
  ['127.128.0.1', ['may not be in the loopback range (127.0.0.0/8, ::1/128)']],
])('%s as the address of an endpoint', (address, refusals) => {
  const out = new Findings();
  const slice = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata: { name: 'a', namespace: 'b' } };
  validateEndpointSlice(out, { ...slice, addressType: 'IPv4', ports: [], endpoints: [{ addresses: [address] }] }, undefined);
  const old = new Findings();
  validateEndpoints(
    old,
    { ...slice, kind: 'Endpoints', subsets: [{ addresses: [{ ip: address }], ports: [{ port: 80, protocol: 'TCP' }] }] },
    undefined,
  );
  expect(old.list).toHaveLength(refusals.length);
  expect(out.list.map(({ message }) => message.replace(/^Invalid value: "[^"]+": /, ''))).toEqual(refusals);
});
