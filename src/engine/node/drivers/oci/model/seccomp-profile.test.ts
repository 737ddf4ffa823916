import { describe, expect, it } from 'vitest';
import { defaultSeccompProfile, type SeccompProfile } from './seccomp-profile.ts';
import { ALLOWED_BY_CAPABILITY, ALLOWED_SYSTEM_CALLS } from './seccomp-system-calls.ts';

const allowedOutright = ({ syscalls }: SeccompProfile): string[] =>
  syscalls.filter(({ action, args }) => action === 'SCMP_ACT_ALLOW' && !args).flatMap(({ names }) => names);

describe('defaultSeccompProfile', () => {
  it('refuses whatever it does not name', () => {
    expect(defaultSeccompProfile([], 'x64')).toMatchObject({ defaultAction: 'SCMP_ACT_ERRNO', defaultErrnoRet: 1 });
  });

  it.each([
    'mount',
    'setns',
    'unshare',
    'bpf',
    'reboot',
    'init_module',
    'kexec_load',
    'keyctl',
    'clone',
    'clone3',
    'io_uring_setup',
    'userfaultfd',
  ])('does not allow %s, without a capability', (name) => {
    expect(allowedOutright(defaultSeccompProfile([], 'x64'))).not.toContain(name);
  });

  it('allows clone without namespaces, and answers clone3 as a kernel without it, when there is no CAP_SYS_ADMIN', () => {
    const { syscalls } = defaultSeccompProfile([], 'x64');
    expect(syscalls.find(({ names }) => names.includes('clone'))?.args).toEqual([
      { index: 0, value: 0x7e020000, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' },
    ]);
    expect(syscalls.find(({ names }) => names.includes('clone3'))).toEqual({ names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: 38 });
  });

  it('allows mount and clone3 outright, with CAP_SYS_ADMIN', () => {
    expect(allowedOutright(defaultSeccompProfile(['CAP_SYS_ADMIN'], 'x64'))).toEqual(expect.arrayContaining(['mount', 'clone3']));
  });

  it.each([
    ['x64', 'arch_prctl', 'SCMP_ARCH_X86_64'],
    ['arm64', 'cacheflush', 'SCMP_ARCH_AARCH64'],
  ] as const)('is made for %s', (architecture, call, name) => {
    const profile = defaultSeccompProfile([], architecture);
    expect(allowedOutright(profile)).toContain(call);
    expect(profile.architectures).toContain(name);
  });
});

describe('ALLOWED_SYSTEM_CALLS', () => {
  it('has every call once, and none that a capability opens', () => {
    expect(new Set(ALLOWED_SYSTEM_CALLS).size).toBe(ALLOWED_SYSTEM_CALLS.length);
    const opened = new Set(Object.values(ALLOWED_BY_CAPABILITY).flat());
    expect(ALLOWED_SYSTEM_CALLS.filter((name) => opened.has(name))).toEqual([]);
  });
});
