import { readFileSync } from 'node:fs';

/** The version of this package, from the package.json that stands beside `dist`. */
export function productVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
  return manifest.version;
}
