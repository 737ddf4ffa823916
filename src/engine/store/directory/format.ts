import { type FileSystem, readWhole, writeAtomically } from '../files/file-system.ts';
import { StoreError } from '../store.ts';

/** Written last when a store is made, so a directory without it holds no complete store. */
export const FORMAT_FILE = 'format.json';
export const FORMAT_VERSION = 1;

const KIND = 'tenantry-store';

/** The format version of the store in `directory`; undefined when there is none. @throws StoreError NewerFormat, Corrupt */
export async function readFormat(fileSystem: FileSystem, directory: string): Promise<number | undefined> {
  const content = await readWhole(fileSystem, `${directory}/${FORMAT_FILE}`);
  if (!content) return undefined;
  const version = parseVersion(content.toString());
  if (version === undefined) {
    throw new StoreError(
      'Corrupt',
      `Cannot open the store in "${directory}": its ${FORMAT_FILE} is not one of a store; restore a backup into an empty directory`,
    );
  }
  if (version > FORMAT_VERSION) {
    throw new StoreError(
      'NewerFormat',
      `Cannot open the store in "${directory}": its format ${version} is newer than ${FORMAT_VERSION}, the newest this release knows; use the release that wrote it`,
    );
  }
  return version;
}

export function writeFormat(fileSystem: FileSystem, directory: string): Promise<void> {
  const content = `${JSON.stringify({ kind: KIND, version: FORMAT_VERSION })}\n`;
  return writeAtomically(fileSystem, directory, FORMAT_FILE, Buffer.from(content));
}

function parseVersion(content: string): number | undefined {
  try {
    const { kind, version } = JSON.parse(content) as { kind?: unknown; version?: unknown };
    return kind === KIND && Number.isInteger(version) && (version as number) > 0 ? (version as number) : undefined;
  } catch {
    return undefined;
  }
}
