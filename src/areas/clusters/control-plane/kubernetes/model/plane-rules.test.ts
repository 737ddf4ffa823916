import { describe, expect, it } from 'vitest';
import type { ClusterRecord } from '../../process/cluster-folder.ts';
import { addressesOf, linkCommands, PlaneNames, planeRules } from './plane-rules.ts';

const names = new PlaneNames('/data/clusters');
const aRecord = (changes: Partial<ClusterRecord> = {}): ClusterRecord => ({
  namespace: 'acme',
  name: 'dev',
  port: 20_001,
  tunnelPort: 20_002,
  link: 5,
  ...changes,
});

describe('planeRules', () => {
  it('forward the address of a tenant to the API server and the tunnel of its control plane', () => {
    const rules = planeRules([aRecord({ forwarded: '100.64.0.2' })], names);
    expect(rules).toContain('100.64.0.2 . 20001 : 100.66.0.11 . 20001, 100.64.0.2 . 20002 : 100.66.0.11 . 20002');
  });

  it('let nothing through to a control plane that was given no address', () => {
    const rules = planeRules([aRecord()], names);
    expect(rules).not.toContain('elements');
    expect(rules).toContain(`oifname "${names.linkPrefix}*" drop`);
  });

  it('are taken away with the last control plane that has a network', () => {
    expect(planeRules([aRecord({ link: undefined })], names)).toBe(`add table ip ${names.table}\ndelete table ip ${names.table}\n`);
  });
});

describe('names and addresses of planes', () => {
  it('fit into the kernel and differ', () => {
    const links = [0, 1, 127, 128, 32_767];
    expect(links.map((link) => addressesOf(link).plane)).toEqual([
      '100.66.0.1',
      '100.66.0.3',
      '100.66.0.255',
      '100.66.1.1',
      '100.66.255.255',
    ]);
    for (const link of links) expect(names.link(link).length).toBeLessThanOrEqual(15);
    expect(new PlaneNames('/other').link(5)).not.toBe(names.link(5));
    expect(linkCommands(5, names).machine[0]).toBe(`netns add ${names.namespace(5)}`);
  });
});
