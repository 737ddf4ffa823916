import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gvisorBackend } from '../areas/clusters/machines/gvisor/gvisor-backend.ts';
import { HostMachines } from '../areas/clusters/machines/host/host-machines.ts';
import { MachineFolders } from '../areas/clusters/machines/host/machine-folders.ts';
import { WorkerImages } from '../areas/clusters/machines/image/worker-image.ts';
import type { Machines } from '../areas/clusters/machines/machines.ts';
import { qemuBackend } from '../areas/clusters/machines/qemu/qemu-backend.ts';
import { umlBackend } from '../areas/clusters/machines/uml/uml-backend.ts';
import { builtProgram } from '../lib/built-program.ts';
import { realClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';

const AGENT = 'worker.js';

/** The machines of this host, all of which run this product's worker from one image. Whether a guest boots is found out when one is asked. */
export function hostMachines({ data, kernel, log }: { data: string; kernel?: string; log: Log }): readonly Machines[] {
  const folders = new MachineFolders(join(data, 'clusters', 'workers'));
  const images = new WorkerImages({ root: folders.images, product: productFolder(), node: process.execPath, kernel });
  const backends = [qemuBackend('kvm'), umlBackend(), qemuBackend('tcg'), gvisorBackend({ namespaceOf: (id) => folders.namespace(id) })];
  return backends.map((backend) => new HostMachines({ folders, images, backend, clock: realClock, log }));
}

function productFolder(): string {
  const path = builtProgram(AGENT) ?? fileURLToPath(new URL(`../../dist/${AGENT}`, import.meta.url));
  if (existsSync(path)) return dirname(dirname(path));
  throw new Error(`Cannot make workers: their program ${AGENT} is not beside this one; build the product first`);
}
