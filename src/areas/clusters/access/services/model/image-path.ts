/** What a worker asks of the registry that it takes this for: everything of one that there is, read only. */
export interface ImageQuestion {
  registry: string;
  repository: string;
  kind: 'manifests' | 'blobs';
  /** A tag or a digest; of blobs a digest. */
  reference: string;
}

const PATH = /^\/v2\/([^/]+)\/([a-z0-9]+(?:[._/-]+[a-z0-9]+)*)\/(manifests|blobs)\/([A-Za-z0-9_][A-Za-z0-9_.:-]{0,199})$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Paths begin with the registry that the image is of. @returns undefined for anything else */
export function imageQuestion(path: string): ImageQuestion | undefined {
  const [, registry, repository, kind, reference] = PATH.exec(path) ?? [];
  if (registry === undefined || (kind === 'blobs' && !DIGEST.test(reference))) return undefined;
  return { registry, repository, kind: kind as ImageQuestion['kind'], reference };
}
