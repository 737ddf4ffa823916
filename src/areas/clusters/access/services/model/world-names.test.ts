import { expect, it } from 'vitest';
import { isOfTheWorld } from './world-names.ts';

it.each([
  ['example.com', true],
  ['registry.example.com.', true],
  ['', true],
  ['com', false],
  ['localhost', false],
  ['kubernetes.default.svc.cluster.local', false],
  ['db.corp', false],
  ['metadata.google.internal', false],
  ['PRINTER.LAN', false],
  ['internal.example.com', true],
  ['9.113.0.203.in-addr.arpa', true],
  ['5.0.30.172.in-addr.arpa', false],
  ['10.in-addr.arpa', false],
  ['odd.5.0.30.172.in-addr.arpa', false],
  ['8.b.d.0.1.0.0.2.ip6.arpa', true],
  ['0.0.d.f.ip6.arpa', false],
])('isOfTheWorld says of "%s": %s', (name, expected) => expect(isOfTheWorld(name)).toBe(expected));
