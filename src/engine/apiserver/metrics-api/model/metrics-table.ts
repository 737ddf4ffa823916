import type { Json, KubeObject } from '../../../../kube/object.ts';
import { Quantity } from '../../../../kube/quantity.ts';

const NAME =
  'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names';

const COLUMNS: Json[] = [
  { name: 'Name', type: 'string', format: 'name', description: NAME, priority: 0 },
  { name: 'cpu', type: 'string', format: 'quantity', description: '', priority: 0 },
  { name: 'memory', type: 'string', format: 'quantity', description: '', priority: 0 },
  { name: 'Window', type: 'string', format: 'duration', description: '', priority: 0 },
];

/** What `kubectl get pods.metrics.k8s.io` shows. */
export function metricsTable(items: readonly KubeObject[], metaVersion: string, include: string): Json {
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${metaVersion}`,
    metadata: {},
    columnDefinitions: COLUMNS,
    rows: items.map((item) => ({ cells: cellsOf(item), ...objectOf(item, metaVersion, include) })),
  };
}

function cellsOf(item: KubeObject): Json[] {
  const usages: Json[] = item.usage ? [item.usage] : item.containers.map(({ usage }: Json) => usage);
  const total = (resource: string): string =>
    usages.reduce<Quantity>((sum, usage) => sum.add(Quantity.parse(usage[resource])), Quantity.zero).toString();
  return [item.metadata.name, total('cpu'), total('memory'), item.window];
}

function objectOf(item: KubeObject, metaVersion: string, include: string): Json {
  if (include === 'None') return {};
  if (include === 'Object') return { object: item };
  return { object: { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${metaVersion}`, metadata: item.metadata } };
}
