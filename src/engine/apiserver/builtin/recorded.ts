import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json } from '../../../kube/object.ts';

let folder: string | undefined;

/** The folder of recorded facts: beside this file in the sources, `kubernetes` in (or one above) the folder of the bundle. */
export function recordedFolder(): string {
  if (folder === undefined) {
    const here = dirname(fileURLToPath(import.meta.url));
    const candidates = [join(here, 'generated'), join(here, 'kubernetes'), join(here, '..', 'kubernetes')];
    folder = candidates.find((path) => existsSync(join(path, 'resources.json')));
    if (folder === undefined) {
      throw new Error(`Cannot find the recorded Kubernetes kinds "resources.json": not in ${candidates.join(', ')}; build again`);
    }
  }
  return folder;
}

/** Bytes of one recorded file, such as `openapi/v2.json.gz`. Read on demand and not kept: callers cache what they make of it. */
export function readRecorded(file: string): Buffer {
  return readFileSync(join(recordedFolder(), file));
}

export function readRecordedJson(file: string): Json {
  return JSON.parse(readRecorded(file).toString('utf8'));
}

const listings = new Map<string, string[]>();

/** Names of the recorded files in a folder, such as `openapi/v3`. */
export function recordedFiles(inside: string): string[] {
  let names = listings.get(inside);
  if (names === undefined) listings.set(inside, (names = readdirSync(join(recordedFolder(), inside)).sort()));
  return names;
}
