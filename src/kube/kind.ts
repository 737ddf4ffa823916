import { toApiVersion, type GroupResource, type KubeObject } from './object.ts';

/**
 * What a program must know about a Kind to speak of it to an API server. The type parameter is the shape of its objects;
 * it exists for the compiler only.
 */
export interface Kind<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Plural, lower case, as in paths: `deployments`. */
  readonly plural: string;
  readonly namespaced: boolean;
  /** Never present: carries T. */
  readonly objectType?: T;
}

export function apiVersionOf(kind: Pick<Kind, 'group' | 'version'>): string {
  return toApiVersion(kind.group, kind.version);
}

export function groupResourceOf(kind: Pick<Kind, 'group' | 'plural'>): GroupResource {
  return { group: kind.group, resource: kind.plural };
}

/** Where the resource lives: `/api/v1/namespaces/default/pods`, `/apis/apps/v1/deployments` (no namespace: all of them). */
export function resourcePath(kind: Kind, namespace?: string): string {
  const base = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  return namespace === undefined || namespace === '' || !kind.namespaced
    ? `${base}/${kind.plural}`
    : `${base}/namespaces/${encodeURIComponent(namespace)}/${kind.plural}`;
}
