import { describe, expect, it } from 'vitest';
import { CommandError } from '../../../../lib/run-command.ts';
import { platformOf, type Vpc } from '../model/vpc.ts';
import { aPort, aVpc } from '../testing/some-vpcs.ts';
import { groupOf, peerPort, portOf, routerOf, subnetNames } from './names.ts';
import { Northbound } from './northbound-database.ts';
import { removalCommands, rowsOf, vpcCommands } from './northbound.ts';
import { plugCommands, switchCommands } from './switch-program.ts';

const platform = platformOf();
const worker = aPort('w', '10.0.1.10');
const peer = aVpc('b', { index: 2, subnets: [{ name: 'one', cidr: '10.0.2.0/24', gateway: '10.0.2.1' }], peers: ['a'] });
const vpc = aVpc('a', { ports: [worker], peers: ['b'], endpoints: [{ address: '100.64.0.2', protocol: 'tcp', port: 6443 }] });
const tagged: Vpc = { ...vpc, mode: 'VLAN', subnets: [{ name: 'one', cidr: '10.0.1.0/24', gateway: '10.0.1.1', vlan: 7 }] };
const textOf = (one: Vpc, peers: Vpc[] = []): string[] => vpcCommands(one, peers, platform, new Set()).map((command) => command.join(' '));
const policies = (one: Vpc, peers: Vpc[] = []): string[] => textOf(one, peers).filter((text) => text.startsWith('lr-policy-add'));

describe('the rows of a VPC', () => {
  it('let the endpoint through above the drop of the platform', () => {
    const [endpoint, , , own, blocked] = policies(vpc);
    expect(endpoint).toMatch(/ 31000 .*ip4\.dst == 100\.64\.0\.2 && tcp\.dst == 6443 allow$/);
    expect(own).toMatch(/ 30500 .*ip4\.src == \{10\.0\.1\.0\/24\} && ip4\.dst == \{10\.0\.1\.0\/24\} allow$/);
    expect(blocked).toMatch(/ 30000 .*100\.64\.0\.0\/10.* drop$/);
  });

  it('let in from outside what answers a worker, and nothing else', () => {
    const fromOutside = policies(vpc).filter((text) => text.includes('inport == "u.a"'));
    expect(fromOutside).toHaveLength(2);
    expect(fromOutside[0]).toMatch(/ 31000 inport == "u\.a" && ct\.trk && ct\.rpl && ip4\.dst == \{10\.0\.1\.0\/24\} allow$/);
    expect(fromOutside[1]).toMatch(/ 29500 inport == "u\.a" && ip4 drop$/);
  });

  it('allow a peer in both directions, and nothing else that comes over its link', () => {
    const between = policies(vpc, [peer]).filter((text) => text.includes('10.0.2.0/24') || text.includes(peerPort('a', 'b')));
    expect(between.map((text) => text.split(' ').at(-1))).toEqual(['allow', 'allow', 'drop']);
    expect(textOf(vpc, [peer])).toContain(`lr-route-add ${routerOf('a')} 10.0.2.0/24 169.254.0.2 ${peerPort('a', 'b')}`);
  });

  it('have no way to the world without egress, and names of places only with it', () => {
    expect(policies({ ...vpc, egress: false }).at(-1)).toMatch(/ 29000 .* drop$/);
    expect(policies(vpc).some((text) => text.includes(' 29000 '))).toBe(false);
  });

  it('bind a port to the addresses of its worker and to what is routed through it', () => {
    const routed = { ...vpc, routes: [{ cidr: '10.244.1.0/24', via: '10.0.1.10' }] };
    expect(textOf(routed)).toContain(`lsp-set-port-security ${portOf('a', worker)} ${worker.mac} 10.0.1.10 10.244.1.0/24`);
  });

  it('drop what a router says from its address outside', () => {
    expect(policies(vpc).filter((text) => text.includes('ip4.src == 100.64.0.3) drop'))).toHaveLength(1);
  });

  it('have rules of segments, and the group that they need, only where something is to be refused', () => {
    expect(textOf(vpc).filter((text) => /^(acl|pg)-/.test(text))).toEqual([]);
    expect([...rowsOf([{ vpc, peers: [] }]).groups]).toEqual([]);
    expect([...rowsOf([{ vpc: tagged, peers: [] }]).groups]).toEqual([groupOf('a')]);
    expect(removalCommands(rowsOf([{ vpc: tagged, peers: [] }]), rowsOf([{ vpc, peers: [] }])).map((command) => command.at(-1))).toContain(
      groupOf('a'),
    );
  });

  it('name the workers of a VPC, also when there are none any more', () => {
    const groupOfPorts = (one: Vpc, groups: string[]) =>
      vpcCommands(one, [], platform, new Set(groups)).find(([command, , group]) => /^pg-|^clear/.test(command) && group !== undefined)!;
    const group = groupOf('a');
    expect(groupOfPorts(tagged, [])).toEqual(['pg-add', group, portOf('a', worker)]);
    expect(groupOfPorts(tagged, [group])).toEqual(['pg-set-ports', group, portOf('a', worker)]);
    expect(groupOfPorts({ ...tagged, ports: [] }, [group])).toEqual(['clear', 'Port_Group', group, 'ports']);
  });

  it('tag a segment that is a VLAN', () => {
    const { toWire } = subnetNames('a', tagged.subnets[0]);
    const commands = textOf(tagged);
    expect(commands).toContain(`set Logical_Switch_Port ${toWire} tag_request=7`);
    expect(commands.some((text) => text.includes(`inport == "${toWire}" && ip4.src != {10.0.1.0/24} drop`))).toBe(true);
    expect(commands).toContain(`lsp-set-type ${toWire} localnet`);
    expect(textOf(vpc).some((text) => text.includes(toWire))).toBe(false);
  });

  it('are taken away when nobody wants them, and only those', () => {
    const both = rowsOf([
      { vpc, peers: [peer] },
      { vpc: peer, peers: [vpc] },
    ]);
    const left = rowsOf([{ vpc, peers: [] }]);
    const removed = removalCommands(both, left).map((command) => command.at(-1));
    expect(removed).toContain(routerOf('b'));
    expect(removed).toContain(peerPort('a', 'b'));
    expect(removed).not.toContain(routerOf('a'));
    expect(removed).not.toContain('external');
    expect(removalCommands(left, left)).toEqual([]);
  });
});

describe('Northbound', () => {
  const empty = '{"data":[],"headings":["name"]}\n'.repeat(6);
  const wanted = [
    { vpc, peers: [] },
    { vpc: peer, peers: [] },
  ];

  it('writes a few VPCs in one transaction, and waits with it for the switch', async () => {
    const calls: string[] = [];
    const northbound = new Northbound((args) => Promise.resolve(calls.push(args.join(' ')) === 1 ? empty : ''));
    expect([...(await northbound.write(wanted, wanted, platform))]).toEqual([]);
    expect(calls.length).toBe(2);
    expect(calls[1]).toContain('--wait=hv');
  });

  it('waits for the switch with the last of many transactions, and with no other', async () => {
    const calls: string[] = [];
    const northbound = new Northbound((args) => Promise.resolve(calls.push(args.join(' ')) === 1 ? empty : ''));
    const many = Array.from({ length: 100 }, (_, index) => ({ vpc: aVpc(`v${index}-`, { index: index + 1 }), peers: [] }));
    await northbound.write(many, many, platform);
    const waiting = calls.map((text) => text.includes('--wait=hv'));
    expect(waiting.length).toBeGreaterThan(2);
    expect(waiting.lastIndexOf(true)).toBe(waiting.length - 1);
    expect(waiting.filter(Boolean)).toHaveLength(1);
  });

  it('never parts the policies of a router from their removal, however many VPCs there are', async () => {
    const calls: string[] = [];
    const northbound = new Northbound((args) => Promise.resolve(calls.push(args.join(' ')) === 1 ? empty : ''));
    const many = Array.from({ length: 800 }, (_, index) => ({ vpc: aVpc(`v${index}-`, { index: index + 1 }), peers: [] }));
    await northbound.write(many, many, platform);
    expect(calls.length).toBeGreaterThan(2);
    const routers = calls.flatMap((text) => [...new Set(Array.from(text.matchAll(/ r\.(v\d+)-/g), ([, name]) => name))]);
    expect(routers.toSorted()).toEqual([...new Set(routers)].toSorted());
    expect(routers.length).toBe(many.length);
  });

  it('says which VPC is refused, and writes the others', async () => {
    const written: string[] = [];
    const northbound = new Northbound((args) => {
      const text = args.join(' ');
      if (text.includes(' list ')) return Promise.resolve(empty);
      if (text.includes('lr-add r.b')) return Promise.reject(new CommandError('ovn-nbctl', 'status 1', 'ovn-nbctl: b is wrong\n'));
      written.push(text);
      return Promise.resolve('');
    });
    const failed = await northbound.write(wanted, wanted, platform);
    expect([...failed].map(([name, error]) => [name, error.message])).toEqual([
      ['b', 'Cannot program VPC "b" in OVN: ovn-nbctl: b is wrong'],
    ]);
    expect(written.some((text) => text.includes('lr-add r.a'))).toBe(true);
    expect(written.at(-1)).toContain('--wait=hv sync');
  });
});

describe('the switch', () => {
  it('has a wire only where there is one', () => {
    expect(switchCommands({ socket: 'unix:x' }).join(' ')).not.toContain('br-wire');
    expect(switchCommands({ socket: 'unix:x', wire: 'eth1' }).join(' ')).toContain('add-port br-wire eth1');
  });

  it('plugs in what is missing and unplugs what is too much', () => {
    const text = plugCommands(new Set(['p1', 'p2']), new Set(['p2', 'p3'])).join(' ');
    expect(text).toContain('del-port br-int p3');
    expect(text).toContain('external_ids:iface-id=p1');
    expect(text).not.toContain('p2');
    expect(plugCommands(new Set(['p1']), new Set(['p1']))).toEqual([]);
  });
});
