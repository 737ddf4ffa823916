import { arch } from 'node:os';

/**
 * System calls that no Run needs and that lead to parts of the kernel where most of the ways out of a sandbox were found. A list of what
 * is refused, not of what is allowed: programs of any kind run here.
 */
const NUMBERS: Readonly<Record<string, { architecture: number; refused: number[]; clone: number; clone3: number }>> = {
  x64: {
    architecture: 0xc000003e,
    clone: 56,
    clone3: 435,
    // mount umount2 pivot_root unshare setns, the new mount calls, keyrings, modules, kexec, bpf, perf, userfaultfd, io_uring, handles, ...
    refused: [
      165, 166, 155, 272, 308, 428, 429, 430, 431, 432, 433, 442, 248, 249, 250, 175, 176, 313, 174, 177, 246, 320, 321, 298, 323, 425, 426,
      427, 303, 304, 169, 167, 168, 179, 163, 103, 164, 159, 305, 227, 172, 173, 180, 256, 279, 237, 238, 239,
    ],
  },
  arm64: {
    architecture: 0xc00000b7,
    clone: 220,
    clone3: 435,
    refused: [
      40, 39, 41, 97, 268, 428, 429, 430, 431, 432, 433, 442, 217, 218, 219, 105, 106, 273, 104, 294, 280, 241, 282, 425, 426, 427, 264,
      265, 142, 224, 225, 60, 89, 116, 170, 171, 266, 112, 42, 238, 239, 235, 236, 237,
    ],
  },
};

const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_GREATER_OR_EQUAL = 0x35;
const JUMP_IF_ANY_BIT = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;
/** Numbers from here on are the x32 way to call: the same calls by other numbers. */
const X32 = 0x40000000;
/** All kinds of namespaces that `clone` can make: time, mount, cgroup, uts, ipc, user, pid, net. */
const NEW_NAMESPACES = 0x80 | 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000;

type Instruction = [code: number, ifTrue: number, ifFalse: number, value: number];

/** The filter as the kernel takes it; undefined on machines whose numbers we do not know. */
export function systemCallFilter(machine: string = arch()): Buffer | undefined {
  const numbers = NUMBERS[machine];
  if (numbers === undefined) return undefined;
  const { architecture, refused, clone, clone3 } = numbers;
  const program: Instruction[] = [
    [LOAD, 0, 0, 4],
    [JUMP_IF_EQUAL, 1, 0, architecture],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, 0],
    [JUMP_IF_GREATER_OR_EQUAL, 0, 1, X32],
    [RETURN, 0, 0, EPERM],
    // The flags of clone3 are in memory, where a filter cannot look: C libraries then use clone.
    [JUMP_IF_EQUAL, 0, 1, clone3],
    [RETURN, 0, 0, ENOSYS],
    ...refused.flatMap((number): Instruction[] => [
      [JUMP_IF_EQUAL, 0, 1, number],
      [RETURN, 0, 0, EPERM],
    ]),
    [JUMP_IF_EQUAL, 0, 3, clone],
    [LOAD, 0, 0, 16],
    [JUMP_IF_ANY_BIT, 0, 1, NEW_NAMESPACES],
    [RETURN, 0, 0, EPERM],
    [RETURN, 0, 0, ALLOW],
  ];
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  }
  return bytes;
}
