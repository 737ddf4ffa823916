import type { KubeObject } from '../../../../kube/object.ts';
import { notFoundError, REASON_CODES, StatusError, type StatusReason } from '../../../../kube/status.ts';
import type { Authorizer } from '../../auth/user.ts';
import type { ObjectReader } from '../../registry/objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts';
import { effectiveNamespace, isNamespaceResource, refusal } from '../refusal.ts';
import type { Invocation } from '../webhook/review.ts';
import { converted } from '../webhook/selection.ts';
import type { Equivalents } from '../webhook/webhook-index.ts';
import type { CompiledBinding, CompiledPolicy } from './compiled-policy.ts';
import { evaluatePolicy, type Verdict } from './evaluate-policy.ts';
import type { CompileExpression, ExpressionVariables, Slices } from './expression.ts';
import { matchRequest } from './matching.ts';
import { collectParams, type ResourceOfKind } from './params.ts';
import { PolicyIndex, type BoundPolicy } from './policy-index.ts';
import { namespaceVariable, requestVariables } from './request-variables.ts';
import { runSlices } from './run-slices.ts';

export interface ValidatingPolicyOptions {
  reader: ObjectReader;
  compile: CompileExpression;
  authorizer: Authorizer;
  resourceOfKind: ResourceOfKind;
  equivalents?: Equivalents;
}

/** A refusal that waits until all policies have spoken: the first one becomes the answer. */
interface PolicyDenial {
  policy: string;
  binding?: string;
  message: string;
  reason?: string;
}

const NAMESPACES = { group: '', resource: 'namespaces' };
const MAX_ANNOTATION_LENGTH = 10 * 1024;

/** ValidatingAdmissionPolicies: what their bindings bind to a request is evaluated in CEL. */
export function validatingPolicies(options: ValidatingPolicyOptions): AdmissionPlugin & { resourcesChanged(): void } {
  const { reader, equivalents } = options;
  const index = new PolicyIndex(reader, options.compile, equivalents);

  function dispatch(request: AdmissionRequest): Promise<void> | void {
    const denials: PolicyDenial[] = [];
    const evaluations: Promise<void>[] = [];
    for (const bound of index.candidates(request)) {
      const pending = evaluate(bound, request, denials);
      if (pending) evaluations.push(pending);
    }
    const finish = () => {
      if (denials.length > 0) throw refusalOf(request, denials[0]);
    };
    if (evaluations.length === 0) return finish();
    return Promise.all(evaluations).then(finish);
  }

  function evaluate(bound: BoundPolicy, request: AdmissionRequest, denials: PolicyDenial[]): Promise<void> | void {
    const { policy } = bound;
    const misconfigured = (error: unknown, what: string, binding?: string) => {
      if (!policy.failsOpen)
        denials.push({ policy: policy.name, binding, message: `failed to configure ${what}: ${(error as Error).message}` });
    };
    let invocation: Invocation | Promise<Invocation>;
    try {
      const matched = matchRequest(policy.match, request, reader, equivalents);
      if (!matched) return;
      invocation = converted(matched, request, equivalents);
    } catch (error) {
      return misconfigured(error, 'policy');
    }
    const run = (ready: Invocation) => runSlices(evaluateBindings(bound, request, ready, denials, misconfigured));
    if (!(invocation instanceof Promise)) return run(invocation);
    return invocation.then(run, (error: Error) =>
      misconfigured(new Error(`failed to convert object version: ${error.message}`), 'binding'),
    );
  }

  function* evaluateBindings(
    { policy, bindings }: BoundPolicy,
    request: AdmissionRequest,
    invocation: Invocation,
    denials: PolicyDenial[],
    misconfigured: (error: unknown, what: string, binding: string) => void,
  ): Slices<void> {
    const annotations = new Map<string, Set<string>>();
    for (const binding of bindings) {
      let params: (KubeObject | undefined)[];
      try {
        if (binding.match && !matchRequest(binding.match, request, reader, equivalents)) continue;
        params = collectParams(policy, binding, effectiveNamespace(request), reader, options.resourceOfKind);
      } catch (error) {
        misconfigured(error, 'binding', binding.name);
        continue;
      }
      for (const param of params) {
        const verdict = yield* evaluatePolicy(policy, variablesFor(request, invocation, param));
        apply(policy, binding, verdict, request, denials, annotations);
      }
    }
    for (const [key, values] of annotations) request.annotate(`${policy.name}/${key}`, [...values].join(', '));
  }

  function variablesFor(request: AdmissionRequest, invocation: Invocation, params: KubeObject | undefined): ExpressionVariables {
    return {
      ...requestVariables(request, invocation),
      params: params ?? null,
      namespaceObject: namespaceOf(request, reader),
      authorizer: { user: request.user, authorizer: options.authorizer },
    };
  }

  return {
    name: 'ValidatingAdmissionPolicy',
    handles: (request) => index.candidates(request).length > 0,
    validate: dispatch,
    resourcesChanged: () => index.resourcesChanged(),
  };
}

function namespaceOf(request: AdmissionRequest, reader: ObjectReader): unknown {
  if (request.namespace === '' || isNamespaceResource(request)) return null;
  const namespace = reader.get(NAMESPACES, '', request.namespace);
  if (!namespace) throw notFoundError(NAMESPACES, request.namespace);
  return namespaceVariable(namespace);
}

/** Does with a verdict what the binding's actions ask for. */
function apply(
  policy: CompiledPolicy,
  binding: CompiledBinding,
  verdict: Verdict,
  request: AdmissionRequest,
  denials: PolicyDenial[],
  annotations: Map<string, Set<string>>,
): void {
  for (const { message, reason, index } of verdict.denials) {
    for (const action of binding.actions) {
      if (action === 'Deny') denials.push({ policy: policy.name, binding: binding.name, message, reason });
      else if (action === 'Warn') {
        request.warn(`Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`);
      } else if (action === 'Audit') {
        const failed = { message, policy: policy.name, binding: binding.name, expressionIndex: index, validationActions: binding.actions };
        request.annotate('validation.policy.admission.k8s.io/validation_failure', JSON.stringify([failed]));
      }
    }
  }
  for (const { key, value } of verdict.annotations) {
    annotations.set(key, (annotations.get(key) ?? new Set()).add(value.slice(0, MAX_ANNOTATION_LENGTH)));
  }
  for (const message of verdict.annotationErrors) denials.push({ policy: policy.name, binding: binding.name, message });
}

function refusalOf(request: AdmissionRequest, denial: PolicyDenial): StatusError {
  const binding = denial.binding === undefined ? '' : ` with binding '${denial.binding}'`;
  const message = `ValidatingAdmissionPolicy '${denial.policy}'${binding} denied request: ${denial.message}`;
  const { status } = refusal(request, message);
  const reason = (denial.reason ?? 'Invalid') as StatusReason;
  const code = ['Forbidden', 'Unauthorized', 'RequestEntityTooLarge'].includes(reason) ? REASON_CODES[reason] : 422;
  return new StatusError({ ...status, reason, code, details: { ...status.details, causes: [{ message }] } });
}
