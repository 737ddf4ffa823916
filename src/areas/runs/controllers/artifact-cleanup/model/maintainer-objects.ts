import type { ArtifactStore } from '../../../../../api/kruntimes.io/v1alpha1/artifact-store.ts';
import { ARTIFACT_PATH, ARTIFACT_STORE_HASH_LABEL } from '../../../../../api/kruntimes.io/v1alpha1/names.ts';
import type { KubeObject } from '../../../../../kube/object.ts';
import { s3Arguments } from '../../../artifacts/store-flags.ts';
import { artifactAccess } from '../../runtime/model/artifact-access.ts';

export const MAINTAINER = 'kruntimes-runtime-maintainer';

export function maintainerName(hash: string): string {
  return `runtime-maintainer-${hash}`;
}

/** What the maintainer does: looks which Runs go, lets them, tells when it cannot. */
export const MAINTAINER_RULES = [
  { apiGroups: ['kruntimes.io'], resources: ['runs'], verbs: ['get', 'list', 'watch', 'update', 'patch'] },
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
];

/** Who the maintainers of a namespace are. */
export function maintainerAccount(namespace: string): KubeObject[] {
  const rbac = 'rbac.authorization.k8s.io';
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: MAINTAINER, namespace } },
    { apiVersion: `${rbac}/v1`, kind: 'Role', metadata: { name: MAINTAINER, namespace }, rules: MAINTAINER_RULES },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name: MAINTAINER, namespace },
      roleRef: { apiGroup: rbac, kind: 'Role', name: MAINTAINER },
      subjects: [{ kind: 'ServiceAccount', name: MAINTAINER, namespace }],
    },
  ];
}

/** The program that cleans up a store: it has the volume or the credentials, which the controllers have not. */
export function maintainerDeployment(namespace: string, hash: string, store: ArtifactStore, image: string): KubeObject {
  const labels = {
    'app.kubernetes.io/name': 'kruntimes',
    'app.kubernetes.io/component': 'runtime-maintainer',
    [ARTIFACT_STORE_HASH_LABEL]: hash,
  };
  const access = artifactAccess(store);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: maintainerName(hash), namespace, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      // A volume may be for one Pod at a time.
      strategy: { type: 'Recreate' },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: MAINTAINER,
          securityContext: { fsGroup: 65_532 },
          terminationGracePeriodSeconds: 10,
          containers: [
            {
              name: 'cleaner',
              image,
              args: ['--driver', store.driver, '--store-hash', hash, ...storeArguments(store)],
              env: [{ name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } }],
              ...(access.envFrom.length === 0 ? {} : { envFrom: access.envFrom }),
              volumeMounts: access.volumeMounts,
              resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } },
              securityContext: {
                readOnlyRootFilesystem: true,
                runAsNonRoot: true,
                runAsUser: 65_532,
                runAsGroup: 65_532,
                allowPrivilegeEscalation: false,
                capabilities: { drop: ['ALL'] },
                seccompProfile: { type: 'RuntimeDefault' },
              },
            },
          ],
          volumes: access.volumes,
        },
      },
    },
  };
}

function storeArguments({ filesystem, s3 }: ArtifactStore): string[] {
  if (s3 === undefined) return ['--filesystem-root', ARTIFACT_PATH, '--filesystem-volume-claim', filesystem?.volumeClaimName ?? ''];
  const { bucket, prefix, region, endpoint, forcePathStyle } = s3;
  return s3Arguments({ bucket, prefix, region, endpoint, forcePathStyle }, '');
}
