import type { Json, KubeObject } from '../../../kube/object.ts';
import type { CrdSchema } from '../schema/structural.ts';

/** apiextensions.k8s.io/v1 CustomResourceDefinition, as far as the server looks into it. */
export interface CustomResourceDefinition extends KubeObject {
  spec: DefinitionSpec;
  status?: DefinitionStatus;
}

export interface DefinitionSpec {
  group: string;
  names: DefinitionNames;
  scope: 'Namespaced' | 'Cluster';
  versions: DefinitionVersion[];
  conversion?: Conversion;
  preserveUnknownFields?: boolean;
}

export interface DefinitionNames {
  plural: string;
  singular?: string;
  kind: string;
  listKind?: string;
  shortNames?: string[];
  categories?: string[];
}

export interface DefinitionVersion {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: CrdSchema };
  subresources?: Subresources;
  additionalPrinterColumns?: PrinterColumn[];
  selectableFields?: { jsonPath: string }[];
}

export interface Subresources {
  status?: Json;
  scale?: ScalePaths;
}

export interface ScalePaths {
  specReplicasPath: string;
  statusReplicasPath: string;
  labelSelectorPath?: string;
}

export interface PrinterColumn {
  name: string;
  type: string;
  format?: string;
  description?: string;
  priority?: number;
  jsonPath: string;
}

export interface Conversion {
  strategy: string;
  webhook?: { clientConfig?: WebhookClientConfig; conversionReviewVersions?: string[] };
}

export interface WebhookClientConfig {
  url?: string;
  service?: { namespace?: string; name?: string; path?: string; port?: number };
  caBundle?: string;
}

export type DefinitionConditionType =
  | 'Established'
  | 'NamesAccepted'
  | 'NonStructuralSchema'
  | 'Terminating'
  | 'KubernetesAPIApprovalPolicyConformant';

export interface DefinitionCondition {
  type: DefinitionConditionType;
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export interface DefinitionStatus {
  conditions?: DefinitionCondition[];
  acceptedNames?: DefinitionNames;
  storedVersions?: string[];
}

export function findCondition(definition: CustomResourceDefinition, type: DefinitionConditionType): DefinitionCondition | undefined {
  return definition.status?.conditions?.find((condition) => condition.type === type);
}

export function isConditionTrue(definition: CustomResourceDefinition, type: DefinitionConditionType): boolean {
  return findCondition(definition, type)?.status === 'True';
}

/** Sets a condition in place; the transition time moves only when the status changes. */
export function setCondition(definition: CustomResourceDefinition, condition: DefinitionCondition, now: Date): void {
  definition.status ??= {};
  const conditions = (definition.status.conditions ??= []);
  const stamp = `${now.toISOString().slice(0, 19)}Z`;
  const existing = conditions.find((candidate) => candidate.type === condition.type);
  if (existing === undefined) {
    conditions.push({ ...condition, lastTransitionTime: stamp });
    return;
  }
  const moved = existing.status !== condition.status || !existing.lastTransitionTime;
  Object.assign(existing, condition, { lastTransitionTime: moved ? stamp : existing.lastTransitionTime });
}

export function storageVersion(definition: CustomResourceDefinition): string | undefined {
  return definition.spec.versions.find((version) => version.storage)?.name;
}

/** Fills in what apiextensions/v1 fills in, in place. */
export function setDefinitionDefaults(definition: CustomResourceDefinition): void {
  const spec = definition.spec;
  if (typeof spec !== 'object' || spec === null) return;
  const names = spec.names;
  if (typeof names === 'object' && names !== null) {
    if (!names.singular && names.kind) names.singular = names.kind.toLowerCase();
    if (!names.listKind && names.kind) names.listKind = `${names.kind}List`;
  }
  spec.conversion ??= { strategy: 'None' };
  const service = spec.conversion.webhook?.clientConfig?.service;
  if (service !== undefined && service !== null) service.port ??= 443;
  definition.status ??= {};
  if ((definition.status.storedVersions ?? []).length > 0) return;
  const stored = spec.versions?.find((version) => version.storage);
  if (stored !== undefined) definition.status.storedVersions = [stored.name];
}
