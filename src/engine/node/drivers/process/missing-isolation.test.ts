import { describe, expect, it } from 'vitest';
import { missingIsolation } from './missing-isolation.ts';

const all = { bwrap: '/usr/bin/bwrap', nsenter: '/usr/bin/nsenter', setpriv: '/usr/bin/setpriv' };

describe('missingIsolation', () => {
  it('is only the filter of system calls for root with everything', () => {
    expect(missingIsolation({ isRoot: true, ...all }, { cgroups: true })).toEqual(['system calls are not filtered (seccomp)']);
  });

  it('names limits that are not kept, and the user, without root', () => {
    const missing = missingIsolation({ isRoot: false, ...all }, { cgroups: false }).join('; ');
    expect(missing).toContain('containers run as the user of tenantry');
    expect(missing).toContain('CPU limits are not enforced');
    expect(missing).not.toContain('sandbox');
  });

  it('says why there is no sandbox', () => {
    const missing = missingIsolation({ isRoot: false, noSandbox: 'bubblewrap is not installed' }, { cgroups: false });
    expect(missing).toContain('no sandbox: bubblewrap is not installed');
    expect(missing).toContain('the number of processes is not limited');
  });
});
