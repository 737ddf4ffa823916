import { boolean, integer, object, oneOf, rules, text, type ValueOf } from '../../schema-source.ts';

/** Where a Runtime keeps the artifacts of its Runs; copied into a Run before its first upload, so that it is found after the Runtime is gone. */
export const artifactStore = object(
  { driver: oneOf(['filesystem', 's3']) },
  {
    filesystem: object({ volumeClaimName: text({ minLength: 1 }) }, {}),
    s3: object(
      { bucket: text({ minLength: 1, pattern: '^[^/]+$' }) },
      {
        prefix: text({ maxLength: 1024 }),
        region: text({ maxLength: 128 }),
        endpoint: text({ maxLength: 2048 }),
        forcePathStyle: boolean(),
        credentialsSecretName: text({ minLength: 1, maxLength: 253 }),
        uploadPartSize: integer({ format: 'int64', minimum: 5_242_880 }),
        uploadConcurrency: integer({ minimum: 1 }),
      },
    ),
  },
  rules({
    rule: "self.driver == 'filesystem' ? has(self.filesystem) && !has(self.s3) : has(self.s3) && !has(self.filesystem)",
    message: 'exactly the block of the driver must be set',
  }),
);

export type ArtifactStore = ValueOf<typeof artifactStore>;
