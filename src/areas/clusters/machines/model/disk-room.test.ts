import { expect, it } from 'vitest';
import { diskProblem, RESERVED_BYTES } from './disk-room.ts';

const GI = 1024 ** 3;

it.each([
  ['what is free without what stays free', 10, 11, [], true],
  ['more than that', 10.1, 11, [], false],
  ['what is left of what others were promised', 4, 11, [{ bytes: 8 * GI, writtenBytes: 2 * GI }], true],
  ['what others were promised', 5, 11, [{ bytes: 8 * GI, writtenBytes: 2 * GI }], false],
  ['no less because another takes more than its size', 10, 11, [{ bytes: 8 * GI, writtenBytes: 9 * GI }], true],
])('a disk may have %s', (_name, wanted, free, disks, fits) => {
  expect(diskProblem(wanted * GI, free * GI, disks) === undefined).toBe(fits);
});

it('a disk that is too large is refused with the numbers', () => {
  expect(RESERVED_BYTES).toBe(GI);
  expect(diskProblem(10 * 1024 * GI, 55 * GI, [{ bytes: 8 * GI, writtenBytes: 1.5 * GI }])).toBe(
    'it takes 10240Gi, and of 55Gi that are free the workers that there are have been promised 6.5Gi and 1Gi stays free; free some space, or ask for a smaller disk',
  );
});
