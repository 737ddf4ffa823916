import { createHash } from 'node:crypto';
import { SECRET_PATH_ANNOTATION, secretPathOf } from '../../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { Kind } from '../../../../kube/kind.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { labelsOf, type Target } from '../../installation/model/target.ts';
import { SECRETS_ACCOUNT, type ExternalSettings } from './external-settings.ts';

const GROUP = 'external-secrets.io';
export const SecretStoreKind: Kind = { group: GROUP, version: 'v1', kind: 'SecretStore', plural: 'secretstores', namespaced: true };
export const ExternalSecretKind: Kind = {
  group: GROUP,
  version: 'v1',
  kind: 'ExternalSecret',
  plural: 'externalsecrets',
  namespaced: true,
};

const STORE = 'plugin-secrets';

/** The ExternalSecret of a path, and the Secret that it becomes. */
export function externalNameOf(path: string): string {
  return `plugin-external-${createHash('sha256').update(path).digest('hex').slice(0, 16)}`;
}

export interface ExternalObjects {
  account: KubeObject;
  store: KubeObject;
  secrets: KubeObject[];
}

/** What the operator needs in the namespace of a plugin: one store, and for every path that its versions name one ExternalSecret. */
export function externalObjects(targets: readonly Target[], settings: ExternalSettings): ExternalObjects {
  const [target] = targets;
  const { namespace, tenant, plugin } = target;
  const labels = labelsOf(target, 'external-secrets');
  return {
    account: {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: SECRETS_ACCOUNT, labels },
      automountServiceAccountToken: false,
    },
    store: {
      apiVersion: `${GROUP}/v1`,
      kind: 'SecretStore',
      metadata: { name: STORE, labels },
      spec: { provider: settings.provider({ namespace, tenant, plugin }), refreshInterval: settings.refreshSeconds },
    },
    secrets: [...declaredAt(targets)].map(([path, wanted]) => externalSecret(path, wanted, labels, settings)),
  };
}

interface Wanted {
  /** Undefined: all of them. */
  property: string | undefined;
  optional: boolean;
}

/** By path, what the versions want of it. */
function declaredAt(targets: readonly Target[]): Map<string, Wanted[]> {
  const declared = new Map<string, Wanted[]>();
  for (const { manifest, plugin, tenant } of targets)
    for (const { name, path = name, property, optional = false } of manifest.spec.secrets ?? []) {
      const at = secretPathOf(plugin, tenant, path);
      declared.set(at, [...(declared.get(at) ?? []), { property, optional }]);
    }
  return declared;
}

function externalSecret(path: string, wanted: Wanted[], labels: Record<string, string>, settings: ExternalSettings): KubeObject {
  const name = externalNameOf(path);
  return {
    apiVersion: `${GROUP}/v1`,
    kind: 'ExternalSecret',
    metadata: { name, labels, annotations: { [SECRET_PATH_ANNOTATION]: path } },
    spec: {
      secretStoreRef: { name: STORE, kind: 'SecretStore' },
      refreshPolicy: 'Periodic',
      refreshInterval: settings.refreshInterval,
      // The labels bring the Secret into the view of the installation's controller. Gone from the backend means gone.
      target: { name, creationPolicy: 'Owner', deletionPolicy: 'Delete', template: { metadata: { labels } } },
      ...contentOf(settings.keyOf(path), wanted),
    },
  };
}

/** A property that is missing fails the whole; so where one may be missing all of the path is taken, and what is there decides. */
function contentOf(key: string, wanted: Wanted[]): Record<string, Json> {
  if (wanted.some(({ property, optional }) => property === undefined || optional)) return { dataFrom: [{ extract: { key } }] };
  const properties = [...new Set(wanted.map(({ property }) => property!))].toSorted((a, b) => a.localeCompare(b));
  return { data: properties.map((property) => ({ secretKey: property, remoteRef: { key, property } })) };
}
