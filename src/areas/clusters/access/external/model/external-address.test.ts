import { expect, it } from 'vitest';
import type { Vpc } from '../../../../../api/tenantry.dev/v1alpha1/vpc.ts';
import { externalAddressOf } from './external-address.ts';

const ranges = ['198.51.100.0/30', '203.0.113.8/32'];
const aVpc = (asked?: string, held?: string) =>
  ({
    spec: { subnets: [], external: asked === undefined ? {} : { address: asked } },
    ...(held === undefined ? {} : { status: { external: { address: held } } }),
  }) as unknown as Vpc;

it.each<[what: string, vpc: Vpc, taken: string[], expected: string | RegExp]>([
  ['the first that is free', aVpc(), [], '198.51.100.1'],
  ['the next when it is taken', aVpc(), ['198.51.100.1'], '198.51.100.2'],
  ['a range of one', aVpc(), ['198.51.100.1', '198.51.100.2'], '203.0.113.8'],
  ['the one it has', aVpc(undefined, '198.51.100.2'), [], '198.51.100.2'],
  ['another when the range of the one it has is gone', aVpc(undefined, '192.0.2.2'), [], '198.51.100.1'],
  ['the one it asks for', aVpc('198.51.100.2', '198.51.100.1'), [], '198.51.100.2'],
  ['nothing when that is taken', aVpc('198.51.100.2'), ['198.51.100.2'], /is in use/],
  ['nothing that the kernel reads as another', aVpc('203.0.113.010'), [], /tenants have those of/],
  ['nothing that is not offered', aVpc('8.8.8.8'), [], /tenants have those of 198\.51\.100\.0\/30, 203\.0\.113\.8\/32/],
  ['nothing when all are taken', aVpc(), ['198.51.100.1', '198.51.100.2', '203.0.113.8'], /all of .* are in use/],
])('externalAddressOf gives %s', (_what, vpc, taken, expected) => {
  const found = externalAddressOf(vpc, ranges, new Set(taken));
  if (typeof expected === 'string') expect(found).toEqual({ address: expected });
  else expect('problem' in found && found.problem).toMatch(expected);
});

it('externalAddressOf gives nothing where the operator has none', () => {
  expect(externalAddressOf(aVpc(), [], new Set())).toEqual({ problem: expect.stringContaining('--external-addresses') });
});
