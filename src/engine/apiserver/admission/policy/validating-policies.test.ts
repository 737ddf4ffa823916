import { describe, expect, it } from 'vitest';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { StatusError } from '../../../../kube/status.ts';
import { DYN } from '../../cel/types.ts';
import { aNamespace, aPod, aRequest, refusalOf } from '../testing/a-request.ts';
import { ObjectsInMemory } from '../testing/objects-in-memory.ts';
import { OutOfBudgetError, type CompileExpression, type Expression } from './expression.ts';
import { validatingPolicies } from './validating-policies.ts';

const GROUP = 'admissionregistration.k8s.io';
const POLICIES = { group: GROUP, resource: 'validatingadmissionpolicies' };
const BINDINGS = { group: GROUP, resource: 'validatingadmissionpolicybindings' };
const NAMESPACES = { group: '', resource: 'namespaces' };
const CONFIG_MAPS = { group: '', resource: 'configmaps' };
const PODS = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }];

/** Expressions of these tests are JavaScript over the same variables: what is tested is everything around CEL. */
const compile: CompileExpression = (source) => {
  if (source === 'broken') throw new Error('undeclared reference to');
  // oxlint-disable-next-line no-implied-eval, typescript/no-implied-eval
  const run = new Function('object', 'oldObject', 'request', 'params', 'namespaceObject', 'variables', `return ${source}`);
  const expression: Expression = {
    type: DYN,
    // oxlint-disable-next-line require-yield
    *sliced(v, budget) {
      return expression.evaluate(v, budget);
    },
    evaluate(v, budget) {
      budget.remaining -= source.includes('/*expensive*/') ? 20_000_000 : 1;
      if (budget.remaining < 0) throw new OutOfBudgetError();
      const variables = new Proxy({}, { get: (_target, name) => v.variables!(String(name)) });
      return run(v.object, v.oldObject, v.request, v.params, v.namespaceObject, variables);
    },
  };
  return expression;
};

function aPolicy(spec: Json): KubeObject {
  return {
    apiVersion: `${GROUP}/v1`,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'p1', generation: 1 },
    spec: { matchConstraints: { resourceRules: PODS }, ...spec },
  };
}

function aBinding(spec: Json = {}, name = 'b1'): KubeObject {
  return {
    apiVersion: `${GROUP}/v1`,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: 'p1', validationActions: ['Deny'], ...spec },
  };
}

function withPolicy(policy: Json, ...bindings: KubeObject[]) {
  const objects = new ObjectsInMemory();
  objects.put(NAMESPACES, aNamespace('team', { env: 'dev' }));
  objects.put(POLICIES, aPolicy(policy));
  for (const binding of bindings.length > 0 ? bindings : [aBinding()]) objects.put(BINDINGS, binding);
  const plugin = validatingPolicies({
    reader: objects,
    compile,
    authorizer: { authorize: () => ({ allowed: false, reason: '' }), rulesFor: () => [] },
    resourceOfKind: (apiVersion, kind) =>
      apiVersion === 'v1' && kind === 'ConfigMap' ? { group: '', resource: 'configmaps', namespaced: true } : undefined,
  });
  return { objects, plugin };
}

const PREFIX = `pods "p" is forbidden: ValidatingAdmissionPolicy 'p1' with binding 'b1' denied request: `;
const pod = () => aRequest('pods', aPod());

async function outcome(policy: Json, ...bindings: KubeObject[]): Promise<string> {
  return refusalOf(() => withPolicy(policy, ...bindings).plugin.validate!(pod()));
}

describe('validatingPolicies', () => {
  it.each<[string, Json, string]>([
    ['its message', { expression: 'false', message: 'no pods' }, 'no pods'],
    ['the expression without a message', { expression: ' 1 > 2 ' }, 'failed expression: 1 > 2'],
    ['the message it computes', { expression: 'false', message: 'm', messageExpression: '"pod " + object.metadata.name' }, 'pod p'],
    ['its message when the computed one is no line', { expression: 'false', message: 'm', messageExpression: '"a\\nb"' }, 'm'],
    ['its message when computing fails', { expression: 'false', message: 'm', messageExpression: 'object.a.b' }, 'm'],
    [
      'what evaluation failed with',
      { expression: '(() => { throw new Error("no such key: a") })()' },
      `expression '(() => { throw new Error("no such key: a") })()' resulted in error: no such key: a`,
    ],
    ['what compilation failed with', { expression: 'broken' }, 'compilation error: undeclared reference to'],
    [
      'that the budget is spent',
      { expression: '/*expensive*/ true' },
      'validation failed due to running out of cost budget, no further validation rules will be run',
    ],
  ])('deny with %s', async (_name, validation, message) => {
    expect(await outcome({ validations: [validation] })).toBe(PREFIX + message);
  });

  it('admit what all validations hold for, synchronously', () => {
    const { plugin } = withPolicy({ validations: [{ expression: 'object.metadata.name === "p"' }] });
    expect(plugin.validate!(pod())).toBeUndefined();
  });

  it('answer with the reason of the validation, Invalid by default', async () => {
    const status = async (reason?: string) => {
      const { plugin } = withPolicy({ validations: [{ expression: 'false', message: 'm', reason }] });
      const error = await Promise.resolve()
        .then(() => plugin.validate!(pod()))
        .catch((e: unknown) => e as StatusError);
      return (error as StatusError).status;
    };
    expect(await status()).toMatchObject({
      reason: 'Invalid',
      code: 422,
      details: { causes: [{ message: expect.stringContaining('denied request: m') }] },
    });
    expect(await status('Forbidden')).toMatchObject({ reason: 'Forbidden', code: 403 });
  });

  it('admit what fails to evaluate when the failure policy is Ignore', async () => {
    expect(await outcome({ failurePolicy: 'Ignore', validations: [{ expression: 'broken' }] })).toBe('');
  });

  it('compute variables when they are needed, once, each from those before', async () => {
    const variables = [
      { name: 'calls', expression: '({ n: 0 })' },
      { name: 'name', expression: '(variables.calls.n++, object.metadata.name)' },
      { name: 'unused', expression: 'broken' },
    ];
    const validations = [{ expression: 'variables.name === "p"' }, { expression: 'variables.name === "p" && variables.calls.n === 1' }];
    expect(await outcome({ variables, validations })).toBe('');
    expect(await outcome({ variables, validations: [{ expression: 'variables.unused' }] })).toContain(
      'composited variable "unused" fails to compile: undeclared reference to',
    );
  });

  it('see the namespace and the request', async () => {
    const expression =
      'namespaceObject.metadata.labels.env === "dev" && request.operation === "CREATE" && request.userInfo.username === "jane" && oldObject === null';
    expect(await outcome({ validations: [{ expression }] })).toBe('');
  });

  it('warn and audit instead of denying when the binding says so', () => {
    const { plugin } = withPolicy(
      { validations: [{ expression: 'true' }, { expression: 'false', message: 'm' }] },
      aBinding({ validationActions: ['Warn', 'Audit'] }),
    );
    const request = pod();
    void plugin.validate!(request);
    expect(request.warnings).toEqual(["Validation failed for ValidatingAdmissionPolicy 'p1' with binding 'b1': m"]);
    expect(request.annotations).toEqual({
      'validation.policy.admission.k8s.io/validation_failure':
        '[{"message":"m","policy":"p1","binding":"b1","expressionIndex":1,"validationActions":["Warn","Audit"]}]',
    });
  });

  it('annotate the audit event, leaving out null', () => {
    const auditAnnotations = [
      { key: 'name', valueExpression: 'object.metadata.name' },
      { key: 'none', valueExpression: 'null' },
    ];
    const { plugin } = withPolicy({ validations: [], auditAnnotations });
    const request = pod();
    void plugin.validate!(request);
    expect(request.annotations).toEqual({ 'p1/name': 'p' });
  });
});

describe('validatingPolicies match', () => {
  const DENY = { validations: [{ expression: 'false', message: 'm' }] };

  it.each<[string, Json, KubeObject[], boolean]>([
    ['a policy without a binding', DENY, [aBinding({ policyName: 'other' })], false],
    ['another resource', { ...DENY, matchConstraints: { resourceRules: [{ ...PODS[0], resources: ['services'] }] } }, [], false],
    ['another name', { ...DENY, matchConstraints: { resourceRules: [{ ...PODS[0], resourceNames: ['q'] }] } }, [], false],
    ['an excluded resource', { ...DENY, matchConstraints: { resourceRules: PODS, excludeResourceRules: PODS } }, [], false],
    ['a namespace the binding selects', DENY, [aBinding({ matchResources: { namespaceSelector: { matchLabels: { env: 'dev' } } } })], true],
    ['a namespace it does not', DENY, [aBinding({ matchResources: { namespaceSelector: { matchLabels: { env: 'prod' } } } })], false],
    ['conditions that do not hold', { ...DENY, matchConditions: [{ name: 'c', expression: 'false' }] }, [], false],
    ['conditions that hold', { ...DENY, matchConditions: [{ name: 'c', expression: 'true' }] }, [], true],
  ])('%s', async (_name, policy, bindings, denied) => {
    const { plugin } = withPolicy(policy, ...bindings);
    const request = pod();
    expect((await refusalOf(() => (plugin.handles(request) ? plugin.validate!(request) : undefined))) !== '').toBe(denied);
  });

  it('deny when a condition fails', async () => {
    expect(await outcome({ ...DENY, matchConditions: [{ name: 'c', expression: 'broken' }] })).toBe(
      `${PREFIX}compilation error: undeclared reference to`,
    );
  });

  it('never their own configuration', () => {
    const everything = { resourceRules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }] };
    const { plugin } = withPolicy({ ...DENY, matchConstraints: everything });
    expect(plugin.handles(aRequest('validatingadmissionpolicies', aPolicy({})))).toBe(false);
  });
});

describe('validatingPolicies params', () => {
  const policy = {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    validations: [{ expression: 'params.data.max > 1', message: 'too many' }],
  };
  const param = (name: string, max: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'team', labels: { limits: 'yes' } },
    data: { max },
  });

  it('are found by name in the namespace of the request', async () => {
    const { objects, plugin } = withPolicy(policy, aBinding({ paramRef: { name: 'limits' } }));
    objects.put(CONFIG_MAPS, param('limits', '1'));
    expect(await refusalOf(() => plugin.validate!(pod()))).toBe(`${PREFIX}too many`);
    objects.put(CONFIG_MAPS, param('limits', '2'));
    expect(await refusalOf(() => plugin.validate!(pod()))).toBe('');
  });

  it('are all those a selector finds', async () => {
    const { objects, plugin } = withPolicy(policy, aBinding({ paramRef: { selector: { matchLabels: { limits: 'yes' } } } }));
    objects.put(CONFIG_MAPS, param('a', '2'));
    objects.put(CONFIG_MAPS, param('b', '1'));
    expect(await refusalOf(() => plugin.validate!(pod()))).toBe(`${PREFIX}too many`);
  });

  it.each<[string, Json, Json, string]>([
    ['missing with Allow', policy, { name: 'x', parameterNotFoundAction: 'Allow' }, ''],
    [
      'missing with Deny',
      policy,
      { name: 'x', parameterNotFoundAction: 'Deny' },
      `${PREFIX}failed to configure binding: no params found for policy binding with \`Deny\` parameterNotFoundAction`,
    ],
    [
      'of an unknown kind',
      { ...policy, paramKind: { apiVersion: 'example.com/v1', kind: 'Limit' } },
      { name: 'x' },
      `${PREFIX}failed to configure binding: paramKind kind \`example.com/v1, Kind=Limit\` not known`,
    ],
  ])('%s', async (_name, spec, paramRef, expected) => {
    expect(await outcome(spec, aBinding({ paramRef }))).toBe(expected);
  });
});
