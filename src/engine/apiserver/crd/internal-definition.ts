import { deepEqual } from '../../../kube/json-value.ts';
import { GoStruct } from '../schema/findings.ts';
import { schemaFields } from '../schema/internal-form.ts';
import type { DefinitionSpec, DefinitionVersion, PrinterColumn, Subresources } from './definition.ts';
import type { CrdSchema } from '../schema/structural.ts';

/**
 * The form in which Kubernetes checks a CRD: what all versions have in common stands at the top, and findings name it there
 * (`spec.validation.openAPIV3Schema`), not where the user wrote it.
 */
export interface InternalDefinition {
  validation?: { openAPIV3Schema?: CrdSchema };
  subresources?: Subresources;
  additionalPrinterColumns?: PrinterColumn[];
  selectableFields?: { jsonPath: string }[];
  versions: DefinitionVersion[];
}

export function toInternal(spec: DefinitionSpec): InternalDefinition {
  const versions = (spec.versions ?? []).map((version) => ({ ...version }));
  const internal: InternalDefinition = { versions };
  const first = versions[0];
  if (first === undefined) return internal;
  const common = <Field extends 'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields'>(
    field: Field,
  ): DefinitionVersion[Field] | undefined => {
    const value = first[field] ?? undefined;
    if (!versions.every((version) => deepEqual(version[field] ?? undefined, value))) return undefined;
    for (const version of versions) delete version[field];
    return value;
  };
  internal.subresources = common('subresources');
  internal.validation = common('schema');
  internal.additionalPrinterColumns = common('additionalPrinterColumns');
  internal.selectableFields = common('selectableFields');
  return internal;
}

/** Versions as Kubernetes prints them when it refuses the list as a whole. */
export function internalVersions(versions: readonly DefinitionVersion[]): GoStruct {
  return new GoStruct(
    // An array is an object too: its items are printed as the structs they stand for.
    versions.map((version) => ({
      Name: version.name ?? '',
      Served: version.served ?? false,
      Storage: version.storage ?? false,
      Deprecated: version.deprecated ?? false,
      DeprecationWarning: version.deprecationWarning ?? null,
      Schema: version.schema
        ? { OpenAPIV3Schema: version.schema.openAPIV3Schema ? schemaFields(version.schema.openAPIV3Schema) : null }
        : null,
      Subresources: version.subresources ? internalSubresources(version.subresources) : null,
      AdditionalPrinterColumns: version.additionalPrinterColumns?.map(internalColumn) ?? null,
      SelectableFields: version.selectableFields?.map((field) => ({ JSONPath: field.jsonPath ?? '' })) ?? null,
    })) as unknown as Record<string, unknown>,
  );
}

function internalSubresources(subresources: Subresources): Record<string, unknown> {
  const scale = subresources.scale;
  return {
    Status: subresources.status ? {} : null,
    Scale: scale
      ? {
          SpecReplicasPath: scale.specReplicasPath ?? '',
          StatusReplicasPath: scale.statusReplicasPath ?? '',
          LabelSelectorPath: scale.labelSelectorPath ?? null,
        }
      : null,
  };
}

function internalColumn(column: PrinterColumn): Record<string, unknown> {
  return {
    Name: column.name ?? '',
    Type: column.type ?? '',
    Format: column.format ?? '',
    Description: column.description ?? '',
    Priority: column.priority ?? 0,
    JSONPath: column.jsonPath ?? '',
  };
}
