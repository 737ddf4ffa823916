import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { Schema } from '../../../../kube/schema.ts';
import type { Resource } from '../../registry/resource.ts';
import { emptyObject } from '../../builtin/decode/empty-object.ts';
import { resolveBuiltin, schemaOf } from '../../builtin/schemas.ts';

/** As much of a resource as field ownership looks at. */
type Ownable = Pick<Resource, 'group' | 'version' | 'kind' | 'schema' | 'resolve' | 'empty'> & {
  strategy: Pick<Resource['strategy'], 'resetFields'>;
};

export function aBuiltin(kind: string, group: string, definition: string): Resource {
  const resource: Ownable = {
    group,
    version: 'v1',
    kind,
    schema: schemaOf(definition),
    resolve: resolveBuiltin,
    empty: () => emptyObject(definition),
    strategy: { resetFields: { '': ['status'], status: ['spec'] } },
  };
  return resource as Resource;
}

export function aCustomKind(spec: Schema): Resource {
  const resource: Ownable = {
    group: 'example.com',
    version: 'v1',
    kind: 'Widget',
    schema: {
      type: 'object',
      properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' }, spec },
    },
    resolve: (node) => node,
    strategy: { resetFields: {} },
  };
  return resource as Resource;
}

export const DEPLOYMENTS = aBuiltin('Deployment', 'apps', 'io.k8s.api.apps.v1.Deployment');
export const CONFIG_MAPS = aBuiltin('ConfigMap', '', 'io.k8s.api.core.v1.ConfigMap');

export function aDeployment(spec: Json, metadata: Json = {}): KubeObject {
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'default', ...metadata }, spec };
}

export function aConfigMap(data: Json, metadata: Json = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'cm', namespace: 'default', ...metadata }, data };
}

export const T0 = (): Date => new Date('2024-01-01T00:00:00Z');
export const T1 = (): Date => new Date('2024-01-01T00:00:05Z');

/** Entries as `manager operation/subresource: fields`, for short expectations. */
export function owners(object: KubeObject): Record<string, Json> {
  const list: Record<string, Json> = {};
  for (const entry of object.metadata.managedFields ?? []) {
    list[[entry.manager, entry.operation, entry.subresource].filter(Boolean).join(' ')] = entry.fieldsV1;
  }
  return list;
}
