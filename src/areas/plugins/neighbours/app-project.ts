import { MANAGED_LABEL } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { Kind } from '../../../kube/kind.ts';
import type { KubeObject } from '../../../kube/object.ts';

export const AppProjectKind: Kind = {
  group: 'argoproj.io',
  version: 'v1alpha1',
  kind: 'AppProject',
  plural: 'appprojects',
  namespaced: true,
};

export const ARGO_PART = 'argocd';
export const PROJECT = 'plugins';

export interface ArgoSettings {
  /** Where Argo CD has its projects. */
  namespace: string;
  sourceRepos: string[];
}

/** What the platform's settings say; without a word the namespace is the usual one, and nothing may be deployed from anywhere. */
export function argoSettings(settings: KubeObject | undefined): ArgoSettings {
  const read = (key: string): string => {
    const encoded = settings?.data?.[key] as string | undefined;
    return encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString().trim();
  };
  return {
    namespace: read('argocd-namespace') || 'argocd',
    sourceRepos: read('argocd-source-repos')
      .split(/[\s,]+/)
      .filter(Boolean),
  };
}

/** The project of everything that Argo CD deploys beside plugins: into their namespaces and nowhere else, and nothing that is the platform's. */
export function appProject({ namespace, sourceRepos }: ArgoSettings): KubeObject {
  const kinds: [string, string][] = [
    ['', 'ResourceQuota'],
    ['', 'LimitRange'],
    ['', 'ServiceAccount'],
    ['networking.k8s.io', 'NetworkPolicy'],
    ['rbac.authorization.k8s.io', 'Role'],
    ['rbac.authorization.k8s.io', 'RoleBinding'],
    ['external-secrets.io', 'SecretStore'],
    ['external-secrets.io', 'ExternalSecret'],
    ['hnc.x-k8s.io', 'HierarchyConfiguration'],
  ];
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'AppProject',
    metadata: { name: PROJECT, namespace, labels: { [MANAGED_LABEL]: ARGO_PART } },
    spec: {
      description: 'Plugins of tenants. Made by Tenantry, which also makes their namespaces.',
      sourceRepos,
      destinations: [{ server: 'https://kubernetes.default.svc', namespace: 'plugin-*' }],
      clusterResourceWhitelist: [],
      namespaceResourceBlacklist: kinds.map(([group, kind]) => ({ group, kind })),
    },
  };
}
