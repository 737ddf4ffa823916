import type { ArtifactStore } from '../../../api/kruntimes.io/v1alpha1/artifact-store.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { ArtifactStoreDriver } from './artifact-store.ts';
import { filesystemStore } from './filesystem-store.ts';
import { credentialChain } from './s3/credentials.ts';
import { s3Store } from './s3/s3-store.ts';

export interface StoreSurroundings {
  /** Where the volume of a filesystem store is mounted. */
  root: string;
  /** Where credentials are looked for. */
  environment: Record<string, string | undefined>;
  clock: Clock;
}

const DEFAULT_REGION = 'us-east-1';

/** A store as a Runtime describes it. */
export function openStore(description: ArtifactStore, { root, environment, clock }: StoreSurroundings): ArtifactStoreDriver {
  const { filesystem, s3 } = description;
  if (description.driver === 'filesystem') return filesystemStore(root, filesystem?.volumeClaimName);
  if (s3 === undefined) throw new Error('Cannot open an S3 store: it has no bucket; name one');
  const region = s3.region || environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION'] || DEFAULT_REGION;
  return s3Store({
    bucket: s3.bucket,
    prefix: s3.prefix,
    region,
    endpoint: s3.endpoint || undefined,
    pathStyle: s3.forcePathStyle ?? false,
    partSize: s3.uploadPartSize,
    concurrency: s3.uploadConcurrency,
    credentials: credentialChain(environment, clock, region),
    clock,
  });
}
