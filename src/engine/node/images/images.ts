import type { RegistryCredential } from '../../../lib/oci/credentials.ts';
import type { ImageConfig } from '../../../lib/oci/image-config.ts';

export type { RegistryCredential } from '../../../lib/oci/credentials.ts';
export type { ImageConfig } from '../../../lib/oci/image-config.ts';

/** The images of this node: pulled from a registry by digest, loaded from a tarball, or built into the product. */
export interface Images {
  /** Makes an image ready to run. Equal requests at the same time share one pull. Rejects with an ImageError. */
  ensure(request: ImageRequest): Promise<Image>;
  /** What is there, for the Node's status and `tenantry image list`. */
  list(): Promise<StoredImage[]>;
  /** Removes what no container uses (given by digest), least recently used first, until so many bytes are free again. */
  collect(inUse: ReadonlySet<string>, bytes: number): Promise<number>;
}

export interface ImageRequest {
  /** As the Pod says it: `busybox`, `registry.example/team/app:1.2`, `app@sha256:...`. */
  reference: string;
  policy: 'Always' | 'IfNotPresent' | 'Never';
  /** From imagePullSecrets, tried in order; those of another registry are left aside. */
  credentials: RegistryCredential[];
  signal: AbortSignal;
}

export interface Image {
  /** The reference in full, with registry and tag. */
  name: string;
  /** `<name>@sha256:<digest of the manifest>`: what a container status shows as imageID. */
  id: string;
  config: ImageConfig;
  root: ImageRoot;
}

/**
 * Where the files come from. Layers are unpacked folders, the lowest first, never written to by a container. A built-in image has no
 * files of its own: it runs a program of this product, or of the machine, on a read-only view of the machine's system folders.
 */
export type ImageRoot = { layers: string[] } | { builtIn: string };

export interface StoredImage {
  /** As in a Node's status: first by digest (`<repository>@sha256:...`), then by tag. */
  names: string[];
  digest: string;
  sizeBytes: number;
}

/** Reasons as Kubernetes shows them in a waiting container. */
export type ImageErrorReason = 'InvalidImageName' | 'ErrImageNeverPull' | 'ErrImagePull' | 'ImageInspectError' | 'RegistryUnavailable';

export class ImageError extends Error {
  readonly reason: ImageErrorReason;

  constructor(reason: ImageErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
