import { expect, test } from 'vitest';
import { deviceNumbers, machineDevices } from './machine-facts.ts';

test.each([
  ['/dev/null', 0x103, 1, 3],
  ['a large minor number', 0x1000_0805, 8, 0x1_0005],
])('deviceNumbers of %s', (_, rdev, major, minor) => {
  expect(deviceNumbers(rdev)).toEqual({ major, minor });
});

test.runIf(process.platform === 'linux')('machineDevices has the machine’s devices, and no terminals of others', async () => {
  const devices = await machineDevices();
  expect(devices).toContainEqual(expect.objectContaining({ path: '/dev/null', type: 'c', major: 1, minor: 3 }));
  expect(devices.filter(({ path }) => path.startsWith('/dev/pts/'))).toEqual([]);
});
