import { beforeAll, describe } from 'vitest';
import { machineCgroups, type Cgroups } from '../../src/engine/node/drivers/cgroups/cgroups.ts';
import type { Driver } from '../../src/engine/node/drivers/driver.ts';
import { createOciDriver } from '../../src/engine/node/drivers/oci/oci-driver.ts';
import { builtInImage, standardBuiltIns } from '../../src/engine/node/images/built-in.ts';
import { parseReference } from '../../src/engine/node/images/model/reference.ts';
import type { Shim } from '../../src/engine/node/shim/shim.ts';
import { driverSuite } from '../conformance/node-driver/driver.suite.ts';
import { busyboxImage } from '../support/test-images.ts';
import { nodeTools, toolPath } from './node-tools.ts';

let cgroups: Cgroups;
beforeAll(async () => {
  await nodeTools('runc', 'busybox');
  const found = await machineCgroups();
  if (!found.cgroups) throw new Error(`Cannot run containers: ${found.why}.`);
  cgroups = found.cgroups;
});

const make = (shim: Shim, dir: string): Driver =>
  createOciDriver({
    shim,
    dir,
    runtime: { name: 'runc', path: toolPath('runc') },
    cgroups,
    programs: [process.execPath],
    hidden: [dir],
    seccompFolder: dir,
  });
const promises = { mounts: true, namespaces: true, processes: true };

describe('oci driver with a built-in image', () => {
  const image = builtInImage(parseReference('tenantry.dev/tools'), standardBuiltIns('1.0.0', process.execPath, '/nowhere'));
  driverSuite({ image, make, promises });
});

describe('oci driver with an image of layers', () => {
  driverSuite({ image: busyboxImage({ env: ['PATH=/usr/bin:/bin'] }), make, promises });
});
