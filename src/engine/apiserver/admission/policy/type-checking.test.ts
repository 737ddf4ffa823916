import { describe, expect, it } from 'vitest';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { INT, STRING, struct } from '../../cel/types.ts';
import { compileCelExpression } from './cel-expression.ts';
import { typeCheckPolicy } from './type-checking.ts';

const SPEC = struct('Spec', { find: (name) => (name === 'replicas' ? INT : undefined) });
const DEPLOYMENT = struct('Deployment', { find: (name) => (name === 'spec' ? SPEC : name === 'kind' ? STRING : undefined) });
const RULE = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['*'], resources: ['deployments'] };

function warningsOf(spec: Json, rule: Json = RULE) {
  const policy: KubeObject = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'p' },
    spec: { matchConstraints: { resourceRules: [rule] }, ...spec },
  };
  return typeCheckPolicy(policy, {
    compile: compileCelExpression,
    kindOf: (group, version, resource) => (resource === 'deployments' ? { group, version, kind: 'Deployment' } : undefined),
    typeOf: ({ kind }) => (kind === 'Deployment' ? DEPLOYMENT : undefined),
  });
}

describe('typeCheckPolicy', () => {
  it('has nothing to say about expressions that fit', () => {
    expect(warningsOf({ validations: [{ expression: 'object.spec.replicas > 1', messageExpression: 'object.kind' }] })).toEqual([]);
  });

  it('names fields that do not exist', () => {
    const [warning] = warningsOf({ validations: [{ expression: 'true' }, { expression: 'object.foo > 1' }] });
    expect(warning.fieldRef).toBe('spec.validations[1].expression');
    expect(warning.warning).toContain('apps/v1, Kind=Deployment: compilation failed: ERROR: <input>:1:7: undefined field');
  });

  it('knows the types of variables', () => {
    const variables = [{ name: 'n', expression: 'object.spec.replicas' }];
    expect(warningsOf({ variables, validations: [{ expression: 'variables.n > 1' }] })).toEqual([]);
    expect(warningsOf({ variables, validations: [{ expression: 'variables.n == "a"' }] })[0].warning).toContain(
      'found no matching overload',
    );
  });

  it('checks nothing for wildcards and kinds it does not know', () => {
    const validations = [{ expression: 'object.foo' }];
    expect(warningsOf({ validations }, { ...RULE, apiGroups: ['*'] })).toEqual([]);
    expect(warningsOf({ validations }, { ...RULE, resources: ['widgets'] })).toEqual([]);
  });
});
