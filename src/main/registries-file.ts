import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { NO_REGISTRIES, parseRegistryConfig, type RegistryConfig } from '../lib/oci/registry-config.ts';

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
