import type { Readable } from 'node:stream';
import type { ArtifactReference } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import type { RunIdentity } from './model/artifact-keys.ts';

/** A file that is to be stored, and what is known of it. */
export interface ArtifactContent {
  name: string;
  type: 'file' | 'directory';
  path: string;
  sizeBytes: number;
  /** `sha256:<hex>` of the bytes. */
  digest: string;
  contentType: string;
}

/** Facts that are kept beside the bytes where a store can. */
export interface ArtifactOrigin extends RunIdentity {
  runName: string;
  runtime: string;
}

/**
 * Where artifacts are kept. Putting the same thing twice is as good as once, and so is removing.
 * Methods reject with ArtifactStoreError when the store has said no, and with anything else when it could not be reached.
 */
export interface ArtifactStoreDriver {
  put(origin: ArtifactOrigin, content: ArtifactContent, signal: AbortSignal): Promise<ArtifactReference['location']>;
  /** The bytes of an artifact; undefined: they are not there. */
  open(run: RunIdentity, name: string, signal: AbortSignal): Promise<Readable | undefined>;
  remove(run: RunIdentity, name: string): Promise<void>;
  /** Everything of the Run. */
  removeAll(run: RunIdentity): Promise<void>;
}

/** The store has said no: asking again will not help. */
export class ArtifactStoreError extends Error {}

/** What a Run left is not fit to be stored. */
export class ArtifactInvalidError extends Error {}
