import type { Entry } from '../store.ts';

/** One state of one key. Links to the state it replaced until compaction, so that reads at older revisions find it. */
export class Version implements Entry {
  readonly key: string;
  readonly bytes: Uint8Array;
  readonly revision: number;
  readonly createdRevision: number;
  /** The key was removed by this write; `bytes` are its last state. */
  readonly removed: boolean;
  attachment: unknown;
  older: Version | undefined;

  constructor(key: string, bytes: Uint8Array, revision: number, createdRevision: number, removed: boolean, attachment?: unknown) {
    this.key = key;
    this.bytes = bytes;
    this.revision = revision;
    this.createdRevision = createdRevision;
    this.removed = removed;
    this.attachment = attachment;
    this.older = undefined;
  }
}

/** The state a key had at `revision`, given its newest version; undefined when it did not exist then. */
export function versionAt(newest: Version | undefined, revision: number): Version | undefined {
  let version = newest;
  while (version && version.revision > revision) version = version.older;
  return version && !version.removed ? version : undefined;
}

/** What a live key counts for. */
export function sizeOf({ key, bytes }: Entry): number {
  return key.length + bytes.length;
}
