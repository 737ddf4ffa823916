import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OvnNetworks } from '../../src/areas/clusters/network/ovn/ovn-networks.ts';
import { realClock } from '../../src/lib/clock.ts';
import { networksSuite } from './clusters-network.suite.ts';
import type { NetworkWorld } from './clusters-network-world.ts';

const folder = mkdtempSync(join(tmpdir(), 'tenantry-ovn-'));
const create = ({ instance, machine }: NetworkWorld): OvnNetworks => new OvnNetworks({ instance, machine, folder, clock: realClock });

networksSuite('ovn', create, ['ethtool', 'ovs-vswitchd', 'ovn-northd', 'ovn-controller']);
