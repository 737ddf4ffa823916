import type { SecuritySpec } from '../../driver.ts';

/** By their numbers, as in the bit masks of /proc/<pid>/status. */
const CAPABILITIES = `CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE
  NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE
  SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM
  BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE`
  .trim()
  .split(/\s+/)
  .map((name) => `CAP_${name}`);

/** What containers have in Kubernetes unless they ask for another set. */
const DEFAULT = new Set(
  `CHOWN DAC_OVERRIDE FSETID FOWNER MKNOD NET_RAW SETGID SETUID SETFCAP SETPCAP NET_BIND_SERVICE SYS_CHROOT KILL AUDIT_WRITE`
    .split(' ')
    .map((name) => `CAP_${name}`),
);

/** The names in a mask such as `000001ffffffffff`. */
export function capabilitiesInMask(mask: string): string[] {
  const bits = BigInt(`0x${mask.trim()}`);
  return CAPABILITIES.filter((_, bit) => (bits >> BigInt(bit)) & 1n);
}

/** What this machine lets us give away: `CapBnd` of /proc/self/status. */
export function boundingCapabilities(status: string): string[] {
  return capabilitiesInMask(/^CapBnd:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0');
}

/**
 * The capabilities of a container. `ALL` means all that the machine has; something asked for by name that the machine lacks stays in,
 * so that the container fails to start instead of running without.
 */
export function containerCapabilities(security: SecuritySpec, available: string[]): string[] {
  if (security.privileged) return available;
  const add = security.addCapabilities.map(capabilityName);
  const drop = security.dropCapabilities.map(capabilityName);
  const base = drop.includes('CAP_ALL') ? [] : add.includes('CAP_ALL') ? available : CAPABILITIES.filter((name) => DEFAULT.has(name));
  const named = new Set([...base, ...add.filter((name) => name !== 'CAP_ALL')]);
  return [...named].filter((name) => !drop.includes(name));
}

function capabilityName(name: string): string {
  const upper = name.toUpperCase();
  return upper.startsWith('CAP_') ? upper : `CAP_${upper}`;
}
