import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { standardBuiltIns } from '../engine/node/images/built-in.ts';
import { createImages, type NodeImages } from '../engine/node/images/create-images.ts';
import { proxySettings } from '../lib/oci/proxy-settings.ts';
import { realClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { productVersion } from './product-version.ts';
import { readRegistries, registriesPath } from './registries-file.ts';

/** The images of an instance's node, for the agent and for `tenantry image`, which may both run at once. */
export async function nodeImages(data: string, log: Log, mirror?: string): Promise<NodeImages> {
  return createImages({
    dir: imagesFolder(data),
    registries: { ...(await readRegistries(registriesPath(data))), ...(mirror === undefined ? {} : { everywhere: mirror }) },
    builtIns: standardBuiltIns(productVersion(), process.execPath, programFolder()),
    proxy: proxySettings(process.env),
    clock: realClock,
    log,
  });
}

export function imagesFolder(data: string): string {
  return join(data, 'node', 'images');
}

/** Where the built programs are: this file becomes part of one of them, or of a chunk beside them. */
function programFolder(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  return [here, dirname(here)].find((folder) => existsSync(join(folder, 'hello.js'))) ?? resolve(here, '../../dist');
}
