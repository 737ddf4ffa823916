import { describe, expect, it, vi } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import type { Schema } from '../../../../kube/schema.ts';
import { ObjectsInMemory } from '../testing/objects-in-memory.ts';
import { compileCelExpression } from './cel-expression.ts';
import { keepPolicyStatus } from './policy-status.ts';
import { schemaType } from './schema-type.ts';

const POLICIES = { group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicies' };
const DEFINITIONS: Record<string, Schema> = {
  Deployment: { type: 'object', properties: { spec: { $ref: 'Spec' }, metadata: { $ref: 'Meta' } } },
  Spec: { type: 'object', properties: { replicas: { type: 'integer' }, template: { $ref: 'Deployment' } } },
  Meta: { type: 'object', properties: { labels: { type: 'object', additionalProperties: { type: 'string' } }, name: { type: 'string' } } },
};
const resolve = (node: Schema) => (node.$ref ? DEFINITIONS[node.$ref] : node);

function aPolicy(expression: string, generation: number, extra: object = {}): KubeObject {
  const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['*'], resources: ['deployments'] };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'p', generation },
    spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression, ...extra }] },
  };
}

function checked() {
  const objects = new ObjectsInMemory();
  const stop = keepPolicyStatus({
    writer: objects,
    compile: compileCelExpression,
    kindOf: (group, version) => ({ group, version, kind: 'Deployment' }),
    typeOf: () => schemaType(DEFINITIONS.Deployment, resolve, 'Deployment', true),
    onError: (error) => expect.unreachable(String(error)),
  });
  const status = () => objects.get(POLICIES, '', 'p')?.status;
  return { objects, stop, status };
}

describe('keepPolicyStatus', () => {
  it('writes an empty result for a policy whose types fit', async () => {
    const { objects, status } = checked();
    objects.put(
      POLICIES,
      aPolicy(
        'object.spec.replicas > 1 && object.spec.template.metadata.name == "x" && object.kind == "y" && object.metadata.labels.a != ""',
        1,
      ),
    );
    await vi.waitFor(() => expect(status()).toEqual({ observedGeneration: 1, typeChecking: {} }));
  });

  it('writes what does not fit, once per spec', async () => {
    const { objects, status, stop } = checked();
    objects.put(
      POLICIES,
      aPolicy("object.spec.replicas > '1'", 1, { messageExpression: "'wants replicas > 1, got ' + object.spec.replicas" }),
    );
    await vi.waitFor(() => expect(status()?.observedGeneration).toBe(1));
    const [first, second] = status().typeChecking.expressionWarnings;
    expect(first.warning).toContain("found no matching overload for '_>_' applied to '(int, string)'");
    expect(second.warning).toContain("found no matching overload for '_+_' applied to '(string, int)'");
    expect(objects.writes).toBe(2);
    stop();
  });
});
