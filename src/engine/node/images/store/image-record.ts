import type { ImageConfig } from '../images.ts';

/** What is kept of an image besides its layers. */
export interface ImageRecord {
  format: 1;
  /** What its names resolve to: of the index when there is one for several platforms, as in the imageID of a container. */
  digest: string;
  config: ImageConfig;
  /** Chain ids of the layers, the lowest first. */
  layers: string[];
  /** By repository (`docker.io/library/busybox`): who may use what was pulled from there. */
  access: Record<string, ImageAccess>;
}

/** A Pod may only use a stored image that it could have pulled itself. */
export interface ImageAccess {
  /** It was pulled without a credential or with the node's own, or loaded by hand. */
  anyone: boolean;
  /** Hashes of credentials that it was pulled with. */
  credentials: string[];
}

export interface LayerRecord {
  diffId: string;
  bytes: number;
}

export function mayUse(access: ImageAccess | undefined, credentialHashes: readonly string[]): boolean {
  return access !== undefined && (access.anyone || access.credentials.some((hash) => credentialHashes.includes(hash)));
}

/** With one more way to use it. `credentialHash` undefined: for everybody. */
export function withAccess(record: ImageRecord, repository: string, credentialHash: string | undefined): ImageRecord {
  const known = Object.hasOwn(record.access, repository) ? record.access[repository] : { anyone: false, credentials: [] };
  const credentials = credentialHash === undefined ? known.credentials : [...new Set([...known.credentials, credentialHash])];
  const access = { anyone: known.anyone || credentialHash === undefined, credentials };
  return { ...record, access: { ...record.access, [repository]: access } };
}

export function accessOf(record: ImageRecord, repository: string): ImageAccess | undefined {
  return Object.hasOwn(record.access, repository) ? record.access[repository] : undefined;
}
