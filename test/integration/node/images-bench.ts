import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { standardBuiltIns } from '../../../src/engine/node/images/built-in.ts';
import { createImages, type ImagesOptions, type NodeImages } from '../../../src/engine/node/images/create-images.ts';
import type { Image, ImageRequest } from '../../../src/engine/node/images/images.ts';
import { NO_REGISTRIES, type RegistryConfig, type RegistrySettings } from '../../../src/lib/oci/registry-config.ts';
import { startTestRegistry, type RegistryBehaviour, type TestRegistry } from '../../support/oci-registry.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';

/** What the tests of images work with: registries and a store that go away after each test. */
export const HELLO = [[{ name: 'etc/hello', content: 'hello' }], [{ name: 'etc/world', content: 'world' }]];
export const login = { scheme: 'bearer' as const, username: 'me', password: 'secret' };

let dir: string;
const registries: TestRegistry[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tenantry-images-'));
});
afterEach(async () => {
  for (const registry of registries.splice(0)) await registry.close();
  rmSync(dir, { recursive: true, force: true });
});

export function storeFolder(...path: string[]): string {
  return join(dir, ...path);
}

export async function aRegistry(behaviour: RegistryBehaviour = {}): Promise<TestRegistry> {
  const registry = await startTestRegistry(behaviour);
  registries.push(registry);
  return registry;
}

/** Registries that may be asked by plain HTTP. */
export function plain(...hosts: string[]): RegistryConfig {
  return { registries: Object.fromEntries(hosts.map((host): [string, RegistrySettings] => [host, { mirrors: [], insecure: true }])) };
}

export function imagesWith(registryConfig: RegistryConfig = NO_REGISTRIES, options: Partial<ImagesOptions> = {}): NodeImages {
  return createImages({
    dir,
    registries: registryConfig,
    builtIns: standardBuiltIns('1.2.3', '/usr/bin/node', '/opt/dist'),
    clock: realClock,
    log: silentLog,
    platform: { os: 'linux', architecture: 'amd64' },
    timeouts: { connectMs: 10_000, idleMs: 10_000 },
    retries: { attempts: 3, initialMs: 5, maxMs: 10, longestWaitMs: 2000 },
    ...options,
  });
}

export function request(reference: string, more: Partial<ImageRequest> = {}): ImageRequest {
  return { reference, policy: 'IfNotPresent', credentials: [], signal: new AbortController().signal, ...more };
}

/** A file as a container would see it, without whiteouts in play. */
export function fileIn(image: Image, path: string): string {
  const { layers } = image.root as { layers: string[] };
  const layer = layers.findLast((folder) => existsSync(join(folder, path)))!;
  return readFileSync(join(layer, path), 'utf8');
}

export function nothingIsLeft(): void {
  for (const part of ['images', 'names', 'layers', 'scratch']) expect(readdirSync(join(dir, part))).toEqual([]);
}
