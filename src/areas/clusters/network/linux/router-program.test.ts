import { describe, expect, it } from 'vitest';
import { platformOf } from '../model/vpc.ts';
import { aPort, aVpc } from '../testing/some-vpcs.ts';
import { machineRules } from '../kernel/machine-rules.ts';
import { bridgeOf, LinuxNames, peerLinkOf, portLinkOf } from './names.ts';
import { strayRouteCommands } from './machine-program.ts';
import { routerLinks, routerProgram } from './router-program.ts';
import { routerRules } from './router-rules.ts';
import { NOTHING, readState } from '../kernel/namespace-state.ts';
import { failuresByOwner } from '../kernel/script.ts';

const platform = platformOf();
const guest = aPort('w', '10.0.1.10', { attachment: { kind: 'Tap', owner: 1234 } });
const peer = aVpc('b', { index: 2, subnets: [{ name: 'one', cidr: '10.0.2.0/24', gateway: '10.0.2.1' }], peers: ['a'] });
const vpc = aVpc('a', { ports: [guest], peers: ['b'], endpoints: [{ address: '100.64.0.2', protocol: 'tcp', port: 6443 }] });
const names = new LinuxNames('abc123');
const ruleOf = (text: string, part: string): number => text.split('\n').findIndex((line) => line.includes(part));

describe('routerProgram', () => {
  it('makes everything in an empty namespace', () => {
    const { commands, removals } = routerProgram(vpc, [peer], platform, NOTHING);
    expect(removals).toEqual([]);
    expect(commands).toContain(`tuntap add dev ${portLinkOf(guest)} mode tap user 1234`);
    expect(commands).toContain(`link set ${portLinkOf(guest)} master ${bridgeOf(vpc.subnets[0])} up`);
    expect(commands).toContain('route replace default via 100.64.0.2 dev up0');
    expect(commands).toContain(`route replace 10.0.2.0/24 via 169.254.0.2 dev ${peerLinkOf(vpc, peer)}`);
  });

  it('adds no link that is there, and takes away what is no longer wanted', () => {
    const links = new Set(['lo', 'up0', 'eth7', 'p00000000', ...routerLinks(vpc, [])]);
    const { commands, removals } = routerProgram(vpc, [], platform, {
      links,
      routes: new Map([
        ['default', 'up0'],
        ['10.0.2.0/24', 'x1'],
      ]),
      addresses: new Map(),
      tables: new Set(),
    });
    expect(commands.filter((command) => / add /.test(command))).toEqual([]);
    expect(removals).toEqual(['route delete 10.0.2.0/24', 'link delete p00000000']);
  });

  it('answers for load balancers and external addresses, and no longer for those that are gone', () => {
    const backends = [{ address: '10.0.1.10', port: 30_080 }];
    const web = { name: 'web', subnet: 'one', address: '10.0.1.20', sources: [], sticky: false, external: '198.51.100.7' };
    const balanced = { ...vpc, loadBalancers: [{ ...web, ports: [{ protocol: 'tcp' as const, port: 80, backends }] }] };
    const bridge = bridgeOf(vpc.subnets[0]);
    const before = new Map([
      ['10.0.1.1/24', bridge],
      ['10.0.1.21/32', bridge],
      ['100.64.0.3/32', 'up0'],
      ['198.51.100.8/32', 'up0'],
    ]);
    const { commands, removals } = routerProgram(balanced, [], platform, { ...NOTHING, addresses: before });
    expect(commands).toContain(`address replace 10.0.1.20/32 dev ${bridge}`);
    expect(commands).toContain('address replace 198.51.100.7/32 dev up0');
    expect(removals).toEqual([`address delete 10.0.1.21/32 dev ${bridge}`, 'address delete 198.51.100.8/32 dev up0']);
    const machine = {
      ...NOTHING,
      routes: new Map([
        ['198.51.100.8', names.uplink('a')],
        ['198.51.100.9', 'eth0'],
      ]),
    };
    expect(strayRouteCommands([balanced], machine, names)).toEqual([`route delete 198.51.100.8 dev ${names.uplink('a')}`]);
  });

  it('gives a subnet whose gateway changes another bridge', () => {
    const moved = { ...vpc, subnets: [{ ...vpc.subnets[0], gateway: '10.0.1.254' }] };
    const { commands, removals } = routerProgram(moved, [], platform, { ...NOTHING, links: routerLinks(vpc, []) });
    expect(removals).toContain(`link delete ${bridgeOf(vpc.subnets[0])}`);
    expect(commands.some((command) => command.startsWith(`link add ${bridgeOf(moved.subnets[0])} `))).toBe(true);
  });
});

describe('routerRules', () => {
  it('let the endpoint through before the platform is dropped, and that before the world', () => {
    const rules = routerRules(vpc, [], platform);
    const order = ['th dport @endpoints accept', 'oifname "up0" ip daddr @blocked drop', 'oifname "up0" ip saddr @own accept'].map((part) =>
      ruleOf(rules, part),
    );
    expect(order.every((line) => line > 0)).toBe(true);
    expect(order).toEqual(order.toSorted((first, second) => first - second));
  });

  it('know a peer only when there is one', () => {
    expect(routerRules(vpc, [], platform)).not.toContain('10.0.2.0/24');
    expect(routerRules(vpc, [peer], platform)).toContain(
      `oifname "${peerLinkOf(vpc, peer)}" ip saddr { 10.0.1.0/24 } ip daddr { 10.0.2.0/24 } accept`,
    );
  });

  it('have no way to the world without egress', () => {
    expect(routerRules({ ...vpc, egress: false }, [], platform)).not.toContain('oifname "up0" ip saddr @own accept');
  });

  it('bind a port to the addresses of its worker and to what is routed through it', () => {
    const routed = { ...vpc, routes: [{ cidr: '10.244.1.0/24', via: '10.0.1.10' }] };
    expect(routerRules(routed, [], platform)).toContain(`elements = { ${guest.mac} . 10.0.1.10, ${guest.mac} . 10.244.1.0/24 }`);
  });
});

describe('machineRules', () => {
  it('let each tenant to its own endpoints only', () => {
    const rules = machineRules({ platform, vpcs: [vpc, peer] }, names.wall);
    expect(rules).toContain(`elements = { "${names.uplink('a')}" . 100.64.0.2 . tcp . 6443 }`);
    expect(rules).toContain('iifname "vabc123*" drop');
  });

  it('let no tenant through to what is not of the world, and nobody from elsewhere to endpoints', () => {
    const rules = machineRules({ platform, vpcs: [vpc] }, names.wall);
    expect(rules).toContain('iifname "vabc123*" ct direction original ip daddr @blocked drop');
    expect(rules).toContain(`iifname != "lo" ct direction original ip daddr ${platform.transit} drop`);
  });

  it('are gone with the last VPC', () => {
    expect(machineRules({ platform, vpcs: [] }, names.wall)).toBe(
      'add table ip tenantry-vpc-abc123\ndelete table ip tenantry-vpc-abc123\n',
    );
  });
});

describe('names', () => {
  it('fit the kernel, whatever the tenant is called', () => {
    const long = aVpc('a-tenant-with-a-name-that-is-as-long-as-a-name-can-be');
    const links = [names.uplink(long.name), bridgeOf(long.subnets[0]), portLinkOf(guest), peerLinkOf(long, peer)];
    expect(links.filter((link) => link.length > 15)).toEqual([]);
    expect(() => new LinuxNames('ABC')).toThrow('Cannot use "ABC" as the name of an instance');
  });
});

describe('what tools say', () => {
  it('is read into the state of a namespace', () => {
    const output =
      '[{"ifname":"lo","addr_info":[{"family":"inet","local":"127.0.0.1","prefixlen":8},{"family":"inet6","local":"::1","prefixlen":128}]},{"ifname":"up0"}]\n---\n' +
      '[{"dst":"default","gateway":"100.64.0.2","dev":"up0"},{"dst":"10.0.1.0/24","dev":"s1"}]\n---\ntable inet tenantry\n';
    const { links, routes, addresses, tables } = readState(output);
    expect([[...links], [...routes], [...addresses], tables.has('inet tenantry')]).toEqual([
      ['lo', 'up0'],
      [['default', 'up0']],
      [['127.0.0.1/8', 'lo']],
      true,
    ]);
    expect([...readState('---\n---\n').links]).toEqual([]);
  });

  it('names whose line failed', () => {
    const output = 'RTNETLINK answers: File exists\nCommand failed -:2\nCannot find device "x"\nCommand failed -:3\n';
    expect([...failuresByOwner(output, ['a', 'b', 'b', 'c'])]).toEqual([['b', 'RTNETLINK answers: File exists']]);
  });
});
