import { describe } from 'vitest';
import { createProcessDriver } from '../../../src/engine/node/drivers/process/process-driver.ts';
import { builtInImage, standardBuiltIns } from '../../../src/engine/node/images/built-in.ts';
import { parseReference } from '../../../src/engine/node/images/model/reference.ts';
import { driverSuite } from './driver.suite.ts';

const image = builtInImage(parseReference('tenantry.dev/tools'), standardBuiltIns('1.0.0', process.execPath, '/nowhere'));

describe('process driver without a sandbox', () => {
  driverSuite({
    image,
    make: (shim, dir) => createProcessDriver({ shim, dir, programs: [], tools: { isRoot: process.getuid!() === 0 } }),
    promises: { mounts: false, namespaces: false, processes: false },
  });
});
