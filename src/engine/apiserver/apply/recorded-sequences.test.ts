import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../../kube/json-value.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import type { Schema } from '../../../kube/schema.ts';
import type { Resource } from '../registry/resource.ts';
import { applyConfiguration } from './apply.ts';
import { aBuiltin, aCustomKind, T0 } from './testing/resources.ts';
import { trackUpdate } from './track-update.ts';

/**
 * Random updates and applies by several managers, with what upstream's own field manager (k8s.io/apimachinery 0.35.4, managedfields) made of
 * each. Times are left out of the recording.
 */
interface Sequence {
  kind: string;
  apiVersion: string;
  definition: string;
  resetFields: Record<string, string[]>;
  steps: Step[];
}

interface Step {
  operation: 'apply' | 'update';
  manager: string;
  subresource?: string;
  force: boolean;
  object: KubeObject;
  error?: string;
  result?: KubeObject;
}

const read = (name: string): Json => JSON.parse(readFileSync(new URL(`./testing/generated/${name}`, import.meta.url), 'utf8'));

function run(live: KubeObject | undefined, step: Step, resource: Resource): KubeObject {
  const { manager, force, subresource = '' } = step;
  if (step.operation === 'apply') {
    return applyConfiguration(live, step.object, { manager, force, resource, subresource, now: T0 }, (object: KubeObject) => object);
  }
  const next = structuredClone(step.object);
  trackUpdate(live, next, { manager, resource, subresource, now: T0 });
  return next;
}

/** Entries in an order that does not depend on times. */
function entriesOf(object: KubeObject): Json[] {
  return (object.metadata.managedFields ?? [])
    .map((entry) => ({ ...entry, time: undefined }))
    .sort((a, b) => (`${a.operation}${a.manager}${a.subresource}` < `${b.operation}${b.manager}${b.subresource}` ? -1 : 1));
}

/** What is left when zero values and empty containers count as absent, as they do in Go. */
function substance(value: Json): Json {
  if (Array.isArray(value)) return value.length > 0 ? value.map((item) => substance(item) ?? null) : undefined;
  if (value === null || value === '' || value === 0 || value === false) return undefined;
  if (typeof value !== 'object') return value;
  const fields = Object.entries(value as Record<string, Json>)
    .filter(([key]) => !['managedFields', 'uid', 'resourceVersion'].includes(key))
    .flatMap(([key, item]) => (substance(item) === undefined ? [] : [[key, substance(item)]]));
  return fields.length > 0 ? Object.fromEntries(fields) : undefined;
}

const sortedLines = (text: string): string[] =>
  text
    .replace(/^Apply failed with \d+ conflicts: /, '')
    .split('\n')
    .sort();

function replay(steps: Step[], resource: Resource): void {
  let live: KubeObject | undefined;
  for (const step of steps) {
    if (live) deepFreeze(live);
    deepFreeze(step.object);
    if (step.error !== undefined) {
      const message = (() => {
        try {
          run(live, step, resource);
          return 'was not refused';
        } catch (error) {
          return (error as Error).message;
        }
      })();
      expect(sortedLines(message)).toEqual(sortedLines(step.error));
      continue;
    }
    const result = run(live, step, resource);
    expect(entriesOf(result)).toEqual(entriesOf(step.result!));
    if (step.operation === 'apply') expect(substance(result)).toEqual(substance(step.result));
    live = step.result;
  }
}

describe('built-in kinds as upstream', () => {
  it.each((read('builtin-sequences.json') as Sequence[]).map((sequence, i) => [`${sequence.kind} ${i}`, sequence] as const))(
    '%s',
    (_, sequence) => {
      const group = sequence.apiVersion.includes('/') ? sequence.apiVersion.split('/')[0] : '';
      const resource = aBuiltin(sequence.kind, group, sequence.definition);
      resource.strategy.resetFields = sequence.resetFields;
      replay(sequence.steps, resource);
    },
  );
});

describe('custom kinds as upstream', () => {
  const { schema, sequences } = read('custom-sequences.json') as { schema: Schema; sequences: { steps: Step[] }[] };
  const resource = { ...aCustomKind({}), schema };
  it.each(sequences.map((sequence, i) => [i, sequence] as const))('%d', (_, sequence) => replay(sequence.steps, resource));
});
