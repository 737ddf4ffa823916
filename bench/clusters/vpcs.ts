import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { LinuxNetworks } from '../../src/areas/clusters/network/linux/linux-networks.ts';
import { macOf, uplinkOf } from '../../src/areas/clusters/network/model/address-plan.ts';
import { platformOf, type NetworkPlan, type Vpc } from '../../src/areas/clusters/network/model/vpc.ts';
import { OvnNetworks } from '../../src/areas/clusters/network/ovn/ovn-networks.ts';
import { realClock } from '../../src/lib/clock.ts';
import type { Networks } from '../../src/areas/clusters/network/networks.ts';

const VPCS = 100;
const BAR_SECONDS = 2;
const AIM_SECONDS = 0.5;

/** How long it takes until so many VPCs are there, each with a subnet, a worker's tap and an endpoint; to change one; to look; to take all away. Needs root, `ip`, `nft`, `ethtool` and OVN. */
export async function benchVpcs(): Promise<void> {
  const machine = `ttn-${randomBytes(3).toString('hex')}`;
  execFileSync('ip', ['netns', 'add', machine]);
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-ovn-'));
  const options = { instance: machine.slice(4), machine: `/run/netns/${machine}` };
  try {
    await measure(new LinuxNetworks(options));
    const ovn = new OvnNetworks({ ...options, folder, clock: realClock });
    // The programs of OVN are there once for all VPCs.
    console.log(`ovn: its programs ${await seconds(() => ovn.ensure({ platform: platformOf(), vpcs: [] }))} s`);
    await measure(ovn);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    execFileSync('ip', ['netns', 'del', machine]);
  }
}

async function measure(networks: Networks): Promise<void> {
  const vpcs = Array.from({ length: VPCS }, (_, position) => someVpc(position + 1));
  const plan: NetworkPlan = { platform: platformOf(), vpcs };
  const load = loadavg()[0].toFixed(1);
  try {
    const before = processorSeconds();
    const made = await seconds(async () => {
      const failures = (await networks.ensure(plan)).filter(({ error }) => error);
      if (failures.length > 0) throw failures[0].error!;
    });
    const used = (processorSeconds() - before).toFixed(2);
    const again = await seconds(() => networks.ensure(plan));
    const changed = await seconds(() => networks.ensure({ ...plan, vpcs: [{ ...vpcs[0], egress: false }, ...vpcs.slice(1)] }));
    const seen = await seconds(() => networks.observe());
    const row = `${networks.provider}: ${VPCS} VPCs ${made} s (bar ${BAR_SECONDS}, aim ${AIM_SECONDS}; tools used ${used} s of processors); nothing to do ${again} s; one changed ${changed} s; all looked at ${seen} s`;
    console.log(`${row}; taken away ${await seconds(() => networks.remove())} s; load before ${load}`);
  } finally {
    await networks.remove();
  }
}

function someVpc(index: number): Vpc {
  const name = `tenant-${index}`;
  const address = '10.0.1.10';
  return {
    name,
    index,
    mode: 'Overlay',
    subnets: [{ name: 'one', cidr: '10.0.1.0/24', gateway: '10.0.1.1' }],
    ports: [{ name: 'worker', subnet: 'one', address, mac: macOf(name, address), attachment: { kind: 'Tap' } }],
    endpoints: [{ address: uplinkOf(platformOf(), index).platform, protocol: 'tcp', port: 6443 }],
    services: [],
    routes: [],
    peers: [],
    egress: true,
  };
}

/** What the processes that this one started, and that have ended, have used: the same on a busy machine. */
function processorSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

async function seconds(work: () => Promise<unknown>): Promise<string> {
  const start = performance.now();
  await work();
  return ((performance.now() - start) / 1000).toFixed(2);
}
