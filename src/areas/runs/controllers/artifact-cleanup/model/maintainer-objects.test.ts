import { describe, expect, it } from 'vitest';
import { maintainerDeployment } from './maintainer-objects.ts';

describe('maintainerDeployment', () => {
  it('has the volume of the store, and the names of the original', () => {
    const store = { driver: 'filesystem', filesystem: { volumeClaimName: 'artifacts' } } as const;
    const deployment = maintainerDeployment('ns', '8ec520a69bdef1d2', store, 'example/maintainer');
    expect(deployment.metadata).toEqual({
      name: 'runtime-maintainer-8ec520a69bdef1d2',
      namespace: 'ns',
      labels: {
        'app.kubernetes.io/name': 'kruntimes',
        'app.kubernetes.io/component': 'runtime-maintainer',
        'kruntimes.io/artifact-store-hash': '8ec520a69bdef1d2',
      },
    });
    const { spec } = deployment['spec'].template;
    expect(spec.volumes).toEqual([{ name: 'artifact-store', persistentVolumeClaim: { claimName: 'artifacts' } }]);
    expect(spec.containers[0]).toMatchObject({
      name: 'cleaner',
      args: [
        '--driver',
        'filesystem',
        '--store-hash',
        '8ec520a69bdef1d2',
        '--filesystem-root',
        '/var/lib/kruntimes/artifacts',
        '--filesystem-volume-claim',
        'artifacts',
      ],
    });
  });

  it('has the credentials of a bucket, and no more flags than the original knows', () => {
    const s3 = { bucket: 'b', prefix: 'p', credentialsSecretName: 's', uploadPartSize: 5_242_880, uploadConcurrency: 2 };
    const deployment = maintainerDeployment('ns', 'h', { driver: 's3', s3 }, 'example/maintainer');
    const [container] = deployment['spec'].template.spec.containers;
    expect(container.args).toEqual(['--driver', 's3', '--store-hash', 'h', '--s3-bucket', 'b', '--s3-prefix', 'p']);
    expect(container.envFrom).toEqual([{ secretRef: { name: 's' } }]);
    expect(container.volumeMounts).toEqual([]);
  });
});
