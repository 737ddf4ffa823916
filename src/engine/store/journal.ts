import type { Version } from './versions/version.ts';

/** A write that has its revision and waits for its commit. */
export interface StagedWrite {
  readonly version: Version;
  /** What the journal keeps of the value: the bytes themselves, or another array with their sealed form. */
  readonly stored: Uint8Array;
}

/** Where commits become durable. The part of a driver below the versions. */
export interface Journal {
  /** Checks a write before it gets its revision, and makes the stored form of its value. @throws when it could never be stored. */
  prepare(key: string, bytes: Uint8Array): Uint8Array;
  /** Resolves when all of `writes` are durable; rejects with a StoreError when none of them is. Never called while a commit runs. */
  commit(writes: readonly StagedWrite[]): Promise<void>;
  close(): Promise<void>;
}
