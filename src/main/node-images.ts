import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { standardBuiltIns } from '../engine/node/images/built-in.ts';
import { createImages, type NodeImages } from '../engine/node/images/create-images.ts';
import { NO_REGISTRIES, parseRegistryConfig, type RegistryConfig } from '../lib/oci/registry-config.ts';
import { proxySettings } from '../lib/oci/proxy-settings.ts';
import { realClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { productVersion } from './product-version.ts';

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

export function registriesPath(data: string): string {
  return join(data, 'node', 'registries.yaml');
}

/** Absent: every registry is reached by HTTPS and without a credential. */
export async function readRegistries(path: string): Promise<RegistryConfig> {
  if (!existsSync(path)) return NO_REGISTRIES;
  const { parse } = await import('yaml');
  let value: unknown;
  try {
    value = parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new Error(`Cannot read the registries file "${path}": ${(cause as Error).message.split('\n')[0]}`, { cause });
  }
  // Files named in it are beside it, unless they say otherwise.
  return parseRegistryConfig(value, (file) => readFileSync(resolve(dirname(path), file), 'utf8'));
}

/** Where the built programs are: this file becomes part of one of them, or of a chunk beside them. */
function programFolder(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  return [here, dirname(here)].find((folder) => existsSync(join(folder, 'hello.js'))) ?? resolve(here, '../../dist');
}
