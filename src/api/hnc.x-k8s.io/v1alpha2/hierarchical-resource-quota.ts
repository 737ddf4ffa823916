import { kindOf, type KindDefinition, type ObjectOf } from '../../kind-definition.ts';
import type { Json } from '../../../kube/object.ts';
import { kubernetesType, mapOf, object, quantity, text } from '../../schema-source.ts';
import { GROUP, VERSION } from './group.ts';

const resources = mapOf(quantity());

export const hierarchicalResourceQuotaDefinition = {
  group: GROUP,
  version: VERSION,
  kind: 'HierarchicalResourceQuota',
  plural: 'hierarchicalresourcequotas',
  shortNames: ['hrq'],
  scope: 'Namespaced',
  description: 'What a namespace and everything below it may use together.',
  spec: object({}, { hard: resources, scopeSelector: kubernetesType<Record<string, Json>>('io.k8s.api.core.v1.ScopeSelector') }),
  status: object({}, { hard: resources, used: resources, requestsSummary: text(), limitsSummary: text() }),
  columns: [
    { name: 'Request', type: 'string', jsonPath: '.status.requestsSummary' },
    { name: 'Limit', type: 'string', jsonPath: '.status.limitsSummary' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  selectableFields: [],
  plainStatus: true,
} satisfies KindDefinition;

export const HierarchicalResourceQuotaKind = kindOf(hierarchicalResourceQuotaDefinition);
export type HierarchicalResourceQuota = ObjectOf<typeof hierarchicalResourceQuotaDefinition>;
