import type { SandboxTools } from './sandbox-tools.ts';

/** What a container of this driver is not kept from, in words for the Pod's condition. */
export function missingIsolation(tools: SandboxTools, limits: { cgroups: boolean }): string[] {
  const missing: string[] = [];
  if (tools.bwrap === undefined) {
    missing.push(
      `no sandbox: ${tools.noSandbox ?? 'it is switched off'}`,
      'volumes are not mounted: a program finds them below $TENANTRY_ROOT, and read-only ones are writable',
      'processes that detach themselves may outlive the container',
    );
    if (!tools.isRoot || tools.setpriv === undefined) missing.push('the number of processes is not limited');
  }
  if (!tools.isRoot) missing.push('containers run as the user of tenantry');
  else if (tools.setpriv === undefined) missing.push('containers run as root: setpriv (util-linux) is not installed');
  if (!limits.cgroups) missing.push('CPU limits are not enforced', 'memory limits are enforced only by watching');
  missing.push('system calls are not filtered (seccomp)');
  return missing;
}
