import { describe, expect, it } from 'vitest';
import { systemCallFilter } from './system-call-filter.ts';

const ALLOW = 0x7fff0000;
const EPERM = 0x00050001;
const X64 = 0xc000003e;

/** The kernel's way to read a filter, as far as ours goes. */
function decide(filter: Buffer, call: { architecture?: number; number: number; flags?: number }): number {
  const data = new Map([
    [0, call.number],
    [4, call.architecture ?? X64],
    [16, call.flags ?? 0],
  ]);
  let value = 0;
  for (let at = 0; ; at++) {
    const [code, ifTrue, ifFalse, operand] = [
      filter.readUInt16LE(at * 8),
      filter.readUInt8(at * 8 + 2),
      filter.readUInt8(at * 8 + 3),
      filter.readUInt32LE(at * 8 + 4),
    ];
    if (code === 0x06) return operand;
    if (code === 0x20) value = data.get(operand)!;
    else {
      const holds = code === 0x15 ? value === operand : code === 0x35 ? value >= operand : (value & operand) !== 0;
      at += holds ? ifTrue : ifFalse;
    }
  }
}

describe('systemCallFilter', () => {
  const filter = systemCallFilter('x64')!;
  it.each<[string, Parameters<typeof decide>[1], number]>([
    ['read', { number: 0 }, ALLOW],
    ['execve', { number: 59 }, ALLOW],
    ['ptrace, which reaches only its own processes', { number: 101 }, ALLOW],
    ['fork', { number: 56, flags: 17 }, ALLOW],
    ['a thread', { number: 56, flags: 0x3d0f00 }, ALLOW],
    ['clone into a user namespace', { number: 56, flags: 0x10000000 | 17 }, EPERM],
    ['clone into a network namespace', { number: 56, flags: 0x40000000 }, EPERM],
    ['clone3, of which the flags cannot be seen', { number: 435 }, 0x00050026],
    ['mount', { number: 165 }, EPERM],
    ['unshare', { number: 272 }, EPERM],
    ['keyctl', { number: 250 }, EPERM],
    ['bpf', { number: 321 }, EPERM],
    ['a call by its x32 number', { number: 0x40000000 + 165 }, EPERM],
    ['a call of another architecture', { number: 21, architecture: 0x40000003 }, 0x80000000],
  ])('%s', (_name, call, expected) => expect(decide(filter, call)).toBe(expected));

  it('there is none for machines whose numbers are not known', () => expect(systemCallFilter('riscv64')).toBeUndefined());
  it('there is one for arm64', () => expect(decide(systemCallFilter('arm64')!, { number: 40, architecture: 0xc00000b7 })).toBe(EPERM));
});
