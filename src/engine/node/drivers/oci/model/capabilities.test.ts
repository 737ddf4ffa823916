import { describe, expect, it } from 'vitest';
import type { SecuritySpec } from '../../driver.ts';
import { boundingCapabilities, capabilitiesInMask, containerCapabilities } from './capabilities.ts';

const MACHINE = ['CAP_CHOWN', 'CAP_KILL', 'CAP_SYS_ADMIN'];
const security = (spec: Partial<SecuritySpec>): SecuritySpec => ({
  privileged: false,
  readOnlyRoot: false,
  allowPrivilegeEscalation: true,
  addCapabilities: [],
  dropCapabilities: [],
  seccomp: { type: 'RuntimeDefault' },
  hostPid: false,
  hostIpc: false,
  ...spec,
});

describe('containerCapabilities', () => {
  it('are the fourteen that containers have in Kubernetes, when nothing is asked for', () => {
    const names = containerCapabilities(security({}), MACHINE);
    expect(names).toHaveLength(14);
    expect(names).toContain('CAP_NET_BIND_SERVICE');
    expect(names).not.toContain('CAP_SYS_ADMIN');
  });

  it.each([
    [
      'only what is added, when all are dropped',
      { dropCapabilities: ['ALL'], addCapabilities: ['NET_BIND_SERVICE'] },
      ['CAP_NET_BIND_SERVICE'],
    ],
    ['all of the machine, when all are added', { addCapabilities: ['ALL'] }, MACHINE],
    [
      'all of the machine without what is dropped',
      { addCapabilities: ['all'], dropCapabilities: ['KILL'] },
      ['CAP_CHOWN', 'CAP_SYS_ADMIN'],
    ],
    ['all of the machine, when privileged', { privileged: true, dropCapabilities: ['ALL'] }, MACHINE],
    ['none, when the same one is added and dropped', { addCapabilities: ['SYS_TIME'], dropCapabilities: ['ALL', 'CAP_SYS_TIME'] }, []],
  ])('are %s', (_, spec, expected) => {
    expect(containerCapabilities(security(spec), MACHINE)).toEqual(expected);
  });

  it('lack what is dropped by name', () => {
    expect(containerCapabilities(security({ dropCapabilities: ['MKNOD', 'net_raw'] }), MACHINE)).toHaveLength(12);
  });
});

describe('capabilitiesInMask', () => {
  it('reads the bits by their numbers', () => {
    expect(capabilitiesInMask('0000000000000021')).toEqual(['CAP_CHOWN', 'CAP_KILL']);
    expect(capabilitiesInMask('000001ffffffffff')).toHaveLength(41);
  });
});

describe('boundingCapabilities', () => {
  it('reads the mask of what can be given away', () => {
    expect(boundingCapabilities('CapInh:\t0000000000000000\nCapBnd:\t0000000000000001\nCapAmb:\t0\n')).toEqual(['CAP_CHOWN']);
  });
});
