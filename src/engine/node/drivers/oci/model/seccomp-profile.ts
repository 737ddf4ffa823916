import { ALLOWED_BY_ARCHITECTURE, ALLOWED_BY_CAPABILITY, ALLOWED_SYSTEM_CALLS } from './seccomp-system-calls.ts';

/** As in the OCI runtime specification. */
export interface SeccompProfile {
  defaultAction: string;
  defaultErrnoRet?: number;
  architectures?: string[];
  syscalls: SeccompRule[];
}

export interface SeccompRule {
  names: string[];
  action: string;
  errnoRet?: number;
  args?: { index: number; value: number; valueTwo?: number; op: string }[];
}

const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string[]>> = {
  x64: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_X86', 'SCMP_ARCH_X32'],
  arm64: ['SCMP_ARCH_AARCH64', 'SCMP_ARCH_ARM'],
};

const EPERM = 1;
const ENOSYS = 38;
const AF_VSOCK = 40;
/** Every flag of clone(2) that makes a namespace. */
const NAMESPACE_FLAGS = 0x7e02_0000;
/** Linux, with and without UNAME26 and 32-bit addresses, and the question what it is. */
const PERSONALITIES = [0x0, 0x8, 0x2_0000, 0x2_0008, 0xffff_ffff];

/** RuntimeDefault: an allow list, wider for who has the capability that the kernel asks for anyway. */
export function defaultSeccompProfile(capabilities: readonly string[], architecture: NodeJS.Architecture = process.arch): SeccompProfile {
  const opened = capabilities.flatMap((name) => ALLOWED_BY_CAPABILITY[name] ?? []);
  const names = new Set([...ALLOWED_SYSTEM_CALLS, ...(ALLOWED_BY_ARCHITECTURE[architecture] ?? []), ...opened]);
  const rules: SeccompRule[] = [allow([...names]), allowWhen('socket', AF_VSOCK, 'SCMP_CMP_NE')];
  for (const personality of PERSONALITIES) rules.push(allowWhen('personality', personality, 'SCMP_CMP_EQ'));
  if (!names.has('clone')) {
    rules.push({ ...allow(['clone']), args: [{ index: 0, value: NAMESPACE_FLAGS, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }] });
    // Its flags are behind a pointer that no filter can read: "not implemented" makes C libraries fall back to clone.
    rules.push({ names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS });
  }
  return { defaultAction: 'SCMP_ACT_ERRNO', defaultErrnoRet: EPERM, architectures: ARCHITECTURES[architecture] ?? [], syscalls: rules };
}

function allow(names: string[]): SeccompRule {
  return { names, action: 'SCMP_ACT_ALLOW' };
}

function allowWhen(name: string, value: number, op: string): SeccompRule {
  return { ...allow([name]), args: [{ index: 0, value, op }] };
}
