import type { Json } from '../../src/kube/object.ts';
import type { StructTable } from './definitions.ts';
import { SAMPLES, type Sample } from './samples/samples.ts';
import type { Server } from './server.ts';

/** Fields whose value the server computes, allocates or takes from admission: not defaults of their type. */
const COMPUTED = new Set([
  'NodeSpec.taints',
  'HorizontalPodAutoscalerSpec.targetCPUUtilizationPercentage',
  'ServiceSpec.clusterIP',
  'ServiceSpec.clusterIPs',
  'ServiceSpec.ipFamilies',
  'ServiceSpec.ipFamilyPolicy',
  'ServicePort.targetPort',
  'ServiceSpec.internalTrafficPolicy',
  'Container.imagePullPolicy',
  'ImageVolumeSource.pullPolicy',
  'DeploymentStrategy.rollingUpdate',
  'DaemonSetUpdateStrategy.rollingUpdate',
  'StatefulSetUpdateStrategy.rollingUpdate',
  'ReplicationControllerSpec.selector',
  'JobSpec.selector',
  'JobSpec.completions',
  'JobSpec.backoffLimit',
  'JobSpec.podReplacementPolicy',
  'NetworkPolicySpec.policyTypes',
  'Subject.apiGroup',
  'CustomResourceDefinitionNames.singular',
  'CustomResourceDefinitionNames.listKind',
  'ExactDeviceRequest.count',
]);

type Defaults = Record<string, Record<string, Json>>;

interface Observation {
  values: Map<string, Json>;
  refuted: boolean;
}

/** Creates every sample without keeping it, and takes what came back beyond what was sent as defaults of the types it was found in. */
export async function recordDefaults(server: Server, table: StructTable, definitionOf: (object: Json) => string): Promise<Defaults> {
  const found = new Map<string, Observation>();
  for (const sample of SAMPLES) {
    const created = await create(server, sample);
    observe(table, definitionOf(sample.object), withoutSystemFields(sample.object), withoutSystemFields(created), found);
  }
  return collect(found);
}

async function create(server: Server, sample: Sample): Promise<Json> {
  const answer = await server.call('POST', `${sample.collection}?dryRun=All`, sample.object);
  if (answer.status !== 201) throw new Error(`Cannot record the defaults of "${sample.object.kind}": ${answer.text}; correct the sample`);
  return answer.body;
}

function observe(table: StructTable, definition: string, sent: Json, received: Json, found: Map<string, Observation>): void {
  const fields = table.structs[definition];
  if (!fields || isObject(received) === false) return;
  for (const [name, type, emit] of fields) {
    const before: Json = sent?.[name];
    const after: Json = received[name];
    const key = `${definition} ${name}`;
    if (before === undefined) note(found, key, after, table, type, emit);
    descend(table, type, before, after, found);
  }
}

/** What the server owns in every object says nothing about defaults. */
function withoutSystemFields({ metadata: _metadata, status: _status, ...rest }: Json): Json {
  return rest;
}

function isObject(value: Json): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An absent field that comes back is a default if it does so always, with the same value, and is more than Go's zero value. */
function note(found: Map<string, Observation>, key: string, after: Json, table: StructTable, type: string, emit?: string): void {
  const observation = found.get(key) ?? { values: new Map<string, Json>(), refuted: false };
  found.set(key, observation);
  if (after === undefined || isZero(after, table, type, emit)) observation.refuted = true;
  else observation.values.set(JSON.stringify(after), after);
}

function isZero(value: Json, table: StructTable, type: string, emit?: string): boolean {
  // Structs held by value always appear; what is inside them is noted where it belongs.
  if (!type.startsWith('*') && isObject(value) && type in table.structs) return true;
  if (type.startsWith('*')) return value === null;
  return emit === '!' ? value === null || value === '' || value === 0 || value === false : value === null;
}

function descend(table: StructTable, type: string, before: Json, after: Json, found: Map<string, Observation>): void {
  if (type.startsWith('*')) {
    if (before !== undefined) descend(table, type.slice(1), before, after, found);
  } else if (type.startsWith('[]')) {
    if (Array.isArray(before) && Array.isArray(after)) {
      before.forEach((item, index) => descend(table, type.slice(2), item, after[index], found));
    }
  } else if (type in table.structs && isObject(after)) observe(table, type, before ?? {}, after, found);
}

function collect(found: Map<string, Observation>): Defaults {
  const defaults: Defaults = {};
  for (const key of [...found.keys()].sort()) {
    const [definition, field] = key.split(' ');
    const { values, refuted } = found.get(key)!;
    const isComputed = COMPUTED.has(`${definition.slice(definition.lastIndexOf('.') + 1)}.${field}`);
    if (refuted || isComputed || values.size === 0) continue;
    if (values.size > 1)
      throw new Error(`Cannot record the default of "${key}": it depends on something: ${[...values.keys()].join(' or ')}`);
    const [value] = values.values();
    (defaults[definition] ??= {})[field] = value;
  }
  return defaults;
}
