import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { LinuxNetworks } from '../../src/areas/clusters/network/linux/linux-networks.ts';
import { OvnNetworks } from '../../src/areas/clusters/network/ovn/ovn-networks.ts';
import { realClock } from '../../src/lib/clock.ts';
import { balancersSuite } from './clusters-access-balancers.suite.ts';

const folder = mkdtempSync(join(tmpdir(), 'tenantry-ovn-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

balancersSuite('linux', ({ instance, machine }) => new LinuxNetworks({ instance, machine }));
balancersSuite('ovn', ({ instance, machine }) => new OvnNetworks({ instance, machine, folder, clock: realClock }), [
  'ethtool',
  'ovs-vswitchd',
  'ovn-northd',
  'ovn-controller',
]);
