import { Command, Option } from 'commander';
import { ARTIFACT_PATH } from '../api/kruntimes.io/v1alpha1/names.ts';
import type { ArtifactStore } from '../api/kruntimes.io/v1alpha1/artifact-store.ts';
import { storeHash } from '../areas/runs/artifacts/model/store-hash.ts';
import { openStore } from '../areas/runs/artifacts/open-store.ts';
import { s3FromFlags } from '../areas/runs/artifacts/store-flags.ts';
import { startMaintainer } from '../areas/runs/maintainer/start-maintainer.ts';
import { createClient } from '../client/client.ts';
import { connectInCluster } from '../client/config/connect.ts';
import { parseGoDuration } from '../kube/go-duration.ts';
import { realClock } from '../lib/clock.ts';
import { createLog } from '../lib/log.ts';
import { reportFailure } from './report-failure.ts';

interface Flags {
  runNamespace?: string;
  runUid?: string;
  driver: 'filesystem' | 's3';
  filesystemRoot: string;
  filesystemVolumeClaim?: string;
  s3Bucket?: string;
  s3Prefix?: string;
  s3Region?: string;
  s3Endpoint?: string;
  s3ForcePathStyle?: boolean;
  storeHash?: string;
  interval: string;
}

const { POD_NAMESPACE, TENANTRY_ROOT = '' } = process.env;

/** `runtime-maintainer`, the program of the image `tenantry.dev/runtime-maintainer`: cleans up one artifact store. */
async function main(flags: Flags): Promise<void> {
  const log = createLog({ level: 'info', format: 'json', write: (line) => process.stderr.write(line) });
  const description = storeOf(flags);
  const root = `${TENANTRY_ROOT}${flags.filesystemRoot}`;
  const store = openStore(description, { root, environment: process.env, clock: realClock });
  if (flags.runUid !== undefined) {
    await store.removeAll({ namespace: flags.runNamespace ?? POD_NAMESPACE ?? '', uid: flags.runUid });
    return;
  }
  const folder = `${TENANTRY_ROOT}/var/run/secrets/kubernetes.io/serviceaccount`;
  const { transport, namespace } = await connectInCluster(process.env, { folder, userAgent: 'runtime-maintainer' });
  const maintainer = startMaintainer({
    client: createClient(transport),
    namespace: flags.runNamespace ?? POD_NAMESPACE ?? namespace,
    storeHash: flags.storeHash ?? storeHash(description),
    store,
    intervalMs: parseGoDuration(flags.interval) ?? DEFAULT_INTERVAL_MS,
    clock: realClock,
    log,
  });
  // The watch alone must not decide how long this process lives.
  const living = setInterval(() => {}, 2 ** 30);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      clearInterval(living);
      maintainer.stop().then(
        () => process.exit(0),
        () => process.exit(1),
      );
    });
  }
}

const DEFAULT_INTERVAL_MS = 10_000;

function storeOf(flags: Flags): ArtifactStore {
  const { driver } = flags;
  if (driver === 'filesystem') return { driver, filesystem: { volumeClaimName: flags.filesystemVolumeClaim ?? '' } };
  return {
    driver,
    s3: s3FromFlags({
      bucket: flags.s3Bucket,
      prefix: flags.s3Prefix,
      region: flags.s3Region,
      endpoint: flags.s3Endpoint,
      forcePathStyle: flags.s3ForcePathStyle,
    }),
  };
}

new Command('runtime-maintainer')
  .addOption(new Option('--driver <driver>', 'what kind of store').choices(['filesystem', 's3']).makeOptionMandatory())
  .option('--filesystem-root <folder>', 'where the volume is mounted', ARTIFACT_PATH)
  .option('--filesystem-volume-claim <name>', 'the claim of the volume')
  .option('--s3-bucket <name>', 'the bucket')
  .option('--s3-prefix <prefix>', 'what keys in it begin with')
  .option('--s3-region <region>', 'the region of the bucket')
  .option('--s3-endpoint <url>', 'where the bucket is, if not at Amazon')
  .option('--s3-force-path-style', 'the bucket in the path, not in the host name')
  .option('--store-hash <hash>', 'which store this is')
  .option('--interval <duration>', 'the longest wait before a store that failed is asked again', '10s')
  .option('--run-namespace <name>', 'whose Runs; the namespace of the Pod by default')
  .option('--run-uid <uid>', 'clean up after this Run alone, then end')
  .action(main)
  .parseAsync()
  .catch((error: unknown) => reportFailure('runtime-maintainer', error));
