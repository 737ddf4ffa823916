import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { silentLog } from '../../../lib/log.ts';
import { platformOf, type NetworkPlan, type Vpc } from './model/vpc.ts';
import { NetworkKeeper } from './network-keeper.ts';
import type { Networks, VpcObservation, VpcOutcome } from './networks.ts';
import { aVpc } from './testing/some-vpcs.ts';

/** Remembers what it was asked, and breaks when told to. */
class Recorder implements Networks {
  readonly provider = 'recorder';
  readonly asked: string[][] = [];
  readonly plans: NetworkPlan[] = [];
  broken = new Set<string>();
  refuses = new Set<string>();
  atOnce = 0;
  most = 0;

  unable({ name, mode }: Vpc): string | undefined {
    return mode === 'VLAN' ? `Cannot make VPC "${name}" in the mode VLAN: not here` : undefined;
  }

  async ensure(wanted: NetworkPlan): Promise<VpcOutcome[]> {
    const { vpcs } = wanted;
    this.plans.push(wanted);
    this.most = Math.max(this.most, ++this.atOnce);
    await Promise.resolve();
    this.atOnce--;
    this.asked.push(vpcs.map(({ name }) => name));
    this.broken.clear();
    return vpcs.map(({ name }) => (this.refuses.has(name) ? { name, error: new Error('the kernel said no') } : { name }));
  }

  observe(): Promise<VpcObservation[]> {
    return Promise.resolve((this.asked.at(-1) ?? []).map((name) => ({ name, intact: !this.broken.has(name) })));
  }

  deviceOf(): { name: string } {
    return { name: '' };
  }

  removed = 0;
  remove(): Promise<void> {
    this.removed++;
    return Promise.resolve();
  }
}

function start(): { networks: Recorder; keeper: NetworkKeeper; clock: FakeClock } {
  const [networks, clock] = [new Recorder(), new FakeClock()];
  return { networks, clock, keeper: new NetworkKeeper({ networks, clock, log: silentLog }) };
}
const plan = (...vpcs: Vpc[]): NetworkPlan => ({ platform: platformOf(), vpcs });

describe('NetworkKeeper', () => {
  it('makes what is wanted, and nothing more while it is intact', async () => {
    const { networks, keeper, clock } = start();
    expect(await keeper.want(plan(aVpc('a')))).toEqual([{ name: 'a' }]);
    await clock.advance(60_000);
    expect(networks.asked).toEqual([['a']]);
  });

  it('makes again what is broken', async () => {
    const { networks, keeper, clock } = start();
    await keeper.want(plan(aVpc('a'), aVpc('b', { index: 2 })));
    networks.broken.add('b');
    await clock.advance(5000);
    expect(networks.asked.length).toBe(2);
    await clock.advance(60_000);
    expect(networks.asked.length).toBe(2);
  });

  it('tries again what could not be made', async () => {
    const { networks, keeper, clock } = start();
    networks.refuses.add('a');
    const [outcome] = await keeper.want(plan(aVpc('a')));
    expect(outcome.error?.message).toBe('the kernel said no');
    networks.refuses.clear();
    await clock.advance(5000);
    expect(networks.asked.length).toBe(2);
    await clock.advance(60_000);
    expect(networks.asked.length).toBe(2);
  });

  it('refuses a VPC that cannot be, with the reason, and makes the others', async () => {
    const { networks, keeper } = start();
    const subnets = [{ name: 'one', cidr: '10.0.1.0/24', gateway: '10.0.9.9' }];
    const tagged = aVpc('c', { index: 3, mode: 'VLAN', subnets: [{ name: 'one', cidr: '10.0.1.0/24', gateway: '10.0.1.1', vlan: 7 }] });
    const outcomes = await keeper.want(plan(aVpc('a'), aVpc('b', { index: 2, subnets }), tagged));
    expect(outcomes.map(({ name, error }) => [name, error?.message])).toEqual([
      ['a', undefined],
      ['b', 'Cannot make subnet "one" of VPC b: its gateway 10.0.9.9 is not an address in 10.0.1.0/24; choose one that is'],
      ['c', 'Cannot make VPC "c" in the mode VLAN: not here'],
    ]);
    expect(networks.asked).toEqual([['a']]);
  });

  it('leaves a VPC as it was when it cannot become what is wanted', async () => {
    const { networks, keeper } = start();
    await keeper.want(plan(aVpc('a')));
    const [outcome] = await keeper.want(plan(aVpc('a', { subnets: [{ name: 'one', cidr: 'nonsense', gateway: '10.0.1.1' }] })));
    expect(outcome.error?.message).toContain('"nonsense" is not an IPv4 CIDR');
    expect(networks.plans.at(-1)!.vpcs).toEqual([aVpc('a')]);
  });

  it('touches nothing when two VPCs claim the same', async () => {
    const { networks, keeper } = start();
    await expect(keeper.want(plan(aVpc('a'), aVpc('b')))).rejects.toThrow('Cannot use pair "1" of transit addresses');
    expect(networks.asked).toEqual([]);
  });

  it('does one thing at a time, and the newest plan counts', async () => {
    const { networks, keeper } = start();
    await Promise.all([keeper.want(plan(aVpc('a'))), keeper.want(plan(aVpc('a'), aVpc('b', { index: 2 })))]);
    expect(networks.most).toBe(1);
    expect(networks.asked.at(-1)).toEqual(['a', 'b']);
  });

  it('leaves nothing when nothing is wanted any more, and does not look after it', async () => {
    const { networks, keeper, clock } = start();
    await keeper.want(plan(aVpc('a')));
    expect(await keeper.want(plan())).toEqual([]);
    await clock.advance(60_000);
    expect([networks.removed, networks.asked]).toEqual([1, [['a']]]);
    expect(await keeper.want(plan(aVpc('a')))).toEqual([{ name: 'a' }]);
  });

  it('looks no more when it has stopped', async () => {
    const { networks, keeper, clock } = start();
    await keeper.want(plan(aVpc('a')));
    await keeper.stop();
    networks.broken.add('a');
    await clock.advance(60_000);
    expect(networks.asked.length).toBe(1);
    expect(clock.pendingTimers).toBe(0);
  });
});
