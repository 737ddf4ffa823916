import { expect, it } from 'vitest';
import { reachableCollector } from './reachable-collector.ts';

const HERE = 'http://127.0.0.1:4318/v1/traces';

it.each([
  ['elsewhere, as it is', 'http://otel:4318/v1/traces', '10.244.0.20', '192.0.2.1', 'http://otel:4318/v1/traces'],
  ['on the machine, from a network of its own', HERE, '10.244.0.20', '192.0.2.1', 'http://192.0.2.1:4318/v1/traces'],
  ['by name', 'http://localhost:4318/', '10.244.0.20', '192.0.2.1', 'http://192.0.2.1:4318/'],
  ['on a machine with IPv6', HERE, '10.244.0.20', '2001:db8::1', 'http://[2001:db8::1]:4318/v1/traces'],
  ['on the machine, whose network the Pod shares', HERE, '127.64.0.2', '192.0.2.1', HERE],
  ['with hostNetwork', HERE, '192.0.2.1', '192.0.2.1', HERE],
  ['outside of a Pod', HERE, undefined, undefined, HERE],
  ['on a machine without an address', HERE, '10.244.0.20', '127.0.0.1', HERE],
])('reachableCollector, %s', (_name, url, podIp, hostIp, expected) => {
  expect(reachableCollector(url, podIp, hostIp)).toBe(expected);
});
