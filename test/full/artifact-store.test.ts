import { s3Store } from '../../src/areas/runs/artifacts/s3/s3-store.ts';
import { realClock } from '../../src/lib/clock.ts';
import { artifactStoreSuite } from '../conformance/runs/artifact-store.suite.ts';
import { startS3Gateway } from './s3-gateway.ts';

artifactStoreSuite('a bucket of versitygw', async () => {
  const { stop, credentials, bucket, region, endpoint } = await startS3Gateway();
  const options = { bucket, region, endpoint, prefix: '/some/prefix/', pathStyle: true, partSize: 5 << 20, clock: realClock };
  return { store: s3Store({ ...options, credentials: async () => credentials }), stop };
});
