import { describe } from 'vitest';
import { createProcessDriver } from '../../../src/engine/node/drivers/process/process-driver.ts';
import { driverSuite } from './driver.suite.ts';
import { toolsImage } from './tools-image.ts';

describe('process driver without a sandbox', () => {
  driverSuite({
    image: toolsImage,
    make: (shim, dir) => createProcessDriver({ shim, dir, programs: [], tools: { isRoot: process.getuid!() === 0 } }),
    promises: { mounts: false, namespaces: false, processes: false },
  });
});
