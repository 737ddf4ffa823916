import type { Kind } from '../kube/kind.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Schema } from '../kube/schema.ts';
import type { SchemaSource } from './schema-source.ts';

/** A Kind that we define, in the words of its CRD. */
export interface KindDefinition<Spec = unknown, Status = unknown> {
  group: string;
  version: string;
  kind: string;
  plural: string;
  shortNames: string[];
  scope: 'Namespaced' | 'Cluster';
  description: string;
  spec: SchemaSource<Spec>;
  status: SchemaSource<Status>;
  columns: PrinterColumn[];
  /** What a watch may select on, besides name and namespace. */
  selectableFields: string[];
  /** What `metadata.name` must be, when not every name will do. */
  nameRules?: Schema;
  /** Where the status is written with the rest of the object, as some wire formats want it. */
  plainStatus?: boolean;
}

export interface PrinterColumn {
  name: string;
  type: 'string' | 'integer' | 'date' | 'boolean';
  jsonPath: string;
  /** 0 is always shown; more only with `-o wide`. */
  priority?: number;
}

/** The TypeScript type of the objects of a Kind. A fresh object has no status. */
export type ObjectOf<D> = D extends KindDefinition<infer Spec, infer Status> ? KubeObject & { spec: Spec; status?: Status } : never;

/** What a client must know of the Kind. */
export function kindOf<D extends KindDefinition>({ group, version, kind, plural, scope }: D): Kind<ObjectOf<D>> {
  return { group, version, kind, plural, namespaced: scope === 'Namespaced' };
}

/** The CustomResourceDefinition of a Kind; references to Kubernetes' own types are put in by `resolve`. */
export function customResourceDefinition(definition: KindDefinition, resolve: (schema: Schema) => Schema) {
  const { group, version, kind, plural, shortNames } = definition;
  const schema = {
    type: 'object',
    description: definition.description,
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object', ...(definition.nameRules ? { properties: { name: { type: 'string', ...definition.nameRules } } } : {}) },
      spec: resolve(definition.spec.schema),
      status: resolve(definition.status.schema),
    },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: definition.scope,
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), ...(shortNames.length > 0 ? { shortNames } : {}) },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          ...(definition.plainStatus ? {} : { subresources: { status: {} } }),
          ...(definition.columns.length > 0 ? { additionalPrinterColumns: definition.columns } : {}),
          ...(definition.selectableFields.length > 0
            ? { selectableFields: definition.selectableFields.map((jsonPath) => ({ jsonPath })) }
            : {}),
        },
      ],
    },
  };
}
