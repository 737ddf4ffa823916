import { isDns1035Label, isDns1123Subdomain, isPathSegmentName } from '../../../../kube/names.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { checkConditions } from '../conditions.ts';
import { deepEqual } from '../equality.ts';
import type { Findings } from '../findings.ts';
import { checkOneOf, checkQualifiedName } from '../formats.ts';
import { internalForms } from '../internal-form.ts';
import { checkLabelSelector } from '../labels.ts';
import { path, type Path } from '../path.ts';
import { checkExpression, type CelCheck, type CelUse } from './cel-use.ts';
import { checkMatchConditions } from './match-conditions.ts';
import { checkNamedRule } from './rules.ts';

const SPEC = path('spec');
const FAILURE_POLICIES = ['Fail', 'Ignore'];
const MATCH_POLICIES = ['Equivalent', 'Exact'];
const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const ACTIONS = ['Audit', 'Deny', 'Warn'];
const MAX_ANNOTATIONS = 20;
const MAX_ANNOTATION_EXPRESSION = 5 * 1024;

export function validateAdmissionPolicy(
  out: Findings,
  policy: KubeObject,
  old: KubeObject | undefined,
  subresource: string,
  check: CelCheck | undefined,
): void {
  if (subresource === 'status') return checkStatus(out, policy.status ?? {});
  const spec = policy.spec ?? {};
  const hasParams = spec.paramKind !== undefined;
  checkOneOf(out, spec.failurePolicy, FAILURE_POLICIES, SPEC.child('failurePolicy'));
  if (hasParams) checkParamKind(out, spec.paramKind, SPEC.child('paramKind'));
  const constraintsAt = SPEC.child('matchConstraints');
  if (spec.matchConstraints === undefined) out.required(constraintsAt);
  else {
    checkMatchResources(out, spec.matchConstraints, constraintsAt);
    if ((spec.matchConstraints.resourceRules ?? []).length === 0) out.required(constraintsAt.child('resourceRules'));
  }
  const sameMatch = deepEqual(spec.paramKind, old?.spec?.paramKind) && deepEqual(spec.matchConditions, old?.spec?.matchConditions);
  if (old === undefined || !sameMatch) {
    checkMatchConditions(out, spec.matchConditions ?? [], hasParams, check, SPEC.child('matchConditions'));
  }
  const variables = checkVariables(out, spec.variables ?? [], hasParams, check);
  checkBody(out, policy, { returns: 'bool', hasParams, hasAuthorizer: true, variables }, check);
}

const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);

function checkVariables(out: Findings, variables: Json[], hasParams: boolean, check: CelCheck | undefined): CelUse['variables'] {
  const known: CelUse['variables'] = [];
  variables.forEach(({ name = '', expression = '' }, i) => {
    const at = SPEC.child('variables').index(i);
    if (name.trim() === '') out.required(at.child('name'), 'name is not specified');
    else if (!IDENTIFIER.test(name) || RESERVED.has(name)) out.invalid(at.child('name'), name, 'must be a valid CEL identifier');
    if (expression.trim() === '') out.required(at.child('expression'), 'expression is not specified');
    else {
      const use: CelUse = { returns: 'any', hasParams, hasAuthorizer: true, variables: [...known] };
      checkExpression(out, expression, use, check, at.child('expression'));
    }
    known.push({ name, expression });
  });
  return known;
}

function checkBody(out: Findings, policy: KubeObject, use: CelUse, check: CelCheck | undefined): void {
  const { validations = [], auditAnnotations = [] } = policy.spec ?? {};
  const [validationsAt, annotationsAt] = [SPEC.child('validations'), SPEC.child('auditAnnotations')];
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item';
    out.required(validationsAt, detail);
    return out.required(annotationsAt, detail);
  }
  validations.forEach((validation: Json, i: number) => checkValidation(out, validation, use, check, validationsAt.index(i)));
  if (auditAnnotations.length > MAX_ANNOTATIONS) {
    const form = internalForms('admissionregistration.AuditAnnotation', auditAnnotations);
    out.invalid(annotationsAt, form, `must not have more than ${MAX_ANNOTATIONS} auditAnnotations`);
  }
  const keys = new Set<string>();
  auditAnnotations.forEach((annotation: Json, i: number) => {
    checkAuditAnnotation(out, annotation, policy.metadata.name ?? '', use, check, annotationsAt.index(i));
    if (keys.has(annotation.key ?? '')) out.duplicate(annotationsAt.index(i).child('key'), annotation.key ?? '');
    keys.add(annotation.key ?? '');
  });
}

function checkValidation(out: Findings, validation: Json, use: CelUse, check: CelCheck | undefined, at: Path): void {
  const { expression = '', message = '', messageExpression = '', reason } = validation;
  if (expression.trim() === '') out.required(at.child('expression'), 'expression is not specified');
  else checkExpression(out, expression, use, check, at.child('expression'));
  if (messageExpression !== '' && messageExpression.trim() === '') {
    out.invalid(at.child('messageExpression'), messageExpression, 'must be non-empty if specified');
  } else if (messageExpression !== '') {
    const asMessage: CelUse = { ...use, returns: 'string', hasAuthorizer: false };
    checkExpression(out, messageExpression, asMessage, check, at.child('messageExpression'));
  }
  if (message !== '' && message.trim() === '') out.invalid(at.child('message'), message, 'must be non-empty if specified');
  else if (/[\n\r]/.test(message.trim())) out.invalid(at.child('message'), message, 'must not contain line breaks');
  if (reason !== undefined && !REASONS.includes(reason)) out.notSupported(at.child('reason'), reason, REASONS);
}

function checkAuditAnnotation(
  out: Findings,
  annotation: Json,
  policyName: string,
  use: CelUse,
  check: CelCheck | undefined,
  at: Path,
): void {
  const { key = '', valueExpression = '' } = annotation;
  if (policyName === '') out.invalid(at.child('key'), key, 'requires metadata.name be non-empty');
  else checkQualifiedName(out, `${policyName}/${key}`, at.child('key'));
  const trimmed = valueExpression.trim();
  const valueAt = at.child('valueExpression');
  if (trimmed === '') out.required(valueAt, 'valueExpression is not specified');
  else if (trimmed.length > MAX_ANNOTATION_EXPRESSION)
    out.required(valueAt, `must not exceed ${MAX_ANNOTATION_EXPRESSION} bytes in length`);
  else checkExpression(out, valueExpression, { ...use, returns: 'stringOrNull' }, check, valueAt);
}

function checkParamKind(out: Findings, { apiVersion = '', kind = '' }: Json, at: Path): void {
  if (apiVersion === '') out.required(at.child('apiVersion'));
  else checkParamVersion(out, apiVersion, at.child('apiVersion'));
  if (kind === '') return out.required(at.child('kind'));
  const errors = isDns1035Label(kind.toLowerCase());
  if (errors.length > 0) out.invalid(at.child('kind'), kind, `may have mixed case, but should otherwise match: ${errors.join(',')}`);
}

function checkParamVersion(out: Findings, apiVersion: string, at: Path): void {
  const parts = apiVersion.split('/');
  if (parts.length > 2) return out.invalid(at, apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
  const [group, version] = parts.length === 2 ? parts : ['', parts[0]];
  const groupErrors = group === '' ? [] : isDns1123Subdomain(group);
  if (groupErrors.length > 0) out.invalid(at, group, groupErrors.join(','));
  if (version === '') return out.invalid(at, apiVersion, 'version must be specified');
  const versionErrors = isDns1035Label(version);
  if (versionErrors.length > 0) out.invalid(at, version, versionErrors.join(','));
}

function checkMatchResources(out: Findings, match: Json, at: Path): void {
  checkOneOf(out, match.matchPolicy, MATCH_POLICIES, at.child('matchPolicy'));
  for (const field of ['namespaceSelector', 'objectSelector']) {
    if (match[field] === undefined) out.required(at.child(field));
    else checkLabelSelector(out, match[field], at.child(field));
  }
  for (const field of ['resourceRules', 'excludeResourceRules']) {
    (match[field] ?? []).forEach((rule: Json, i: number) => checkNamedRule(out, rule, at.child(field).index(i)));
  }
}

export function validateAdmissionPolicyBinding(out: Findings, binding: KubeObject): void {
  const { policyName = '', paramRef, matchResources, validationActions = [] } = binding.spec ?? {};
  if (policyName === '') out.required(SPEC.child('policyName'));
  else out.invalidEach(SPEC.child('policyName'), policyName, isDns1123Subdomain(policyName));
  if (paramRef !== undefined) checkParamRef(out, paramRef, SPEC.child('paramRef'));
  if (matchResources !== undefined) checkMatchResources(out, matchResources, SPEC.child('matchResources'));
  checkActions(out, validationActions, SPEC.child('validationActions'));
}

function checkParamRef(out: Findings, { name = '', selector, parameterNotFoundAction: action }: Json, at: Path): void {
  const detail = 'name and selector are mutually exclusive';
  if (name !== '') {
    out.invalidEach(at.child('name'), name, isPathSegmentName(name));
    if (selector !== undefined) out.forbidden(at.child('name'), detail);
  }
  if (selector !== undefined) {
    checkLabelSelector(out, selector, at.child('selector'));
    if (name !== '') out.forbidden(at.child('selector'), detail);
  }
  if (name === '' && selector === undefined) out.required(at, 'one of name or selector must be specified');
  checkOneOf(out, action, ['Deny', 'Allow'], at.child('parameterNotFoundAction'));
}

function checkActions(out: Findings, actions: string[], at: Path): void {
  const seen = new Set<string>();
  actions.forEach((action, i) => {
    if (!ACTIONS.includes(action)) out.notSupported(at.index(i), action, ACTIONS);
    if (seen.has(action)) out.duplicate(at.index(i), action);
    seen.add(action);
  });
  if (seen.has('Deny') && seen.has('Warn')) {
    const why = 'repeating the same validation failure information in the API response and headers serves no purpose';
    out.invalid(at, actions, `must not contain both Deny and Warn (${why})`);
  }
  if (actions.length === 0) out.required(at, 'at least one validation action is required');
}

function checkStatus(out: Findings, status: Json): void {
  const at = path('status');
  (status.typeChecking?.expressionWarnings ?? []).forEach(({ warning = '', fieldRef = '' }: Json, i: number) => {
    const warningAt = at.child('typeChecking', 'expressionWarnings').index(i);
    if (warning === '') out.required(warningAt.child('warning'));
    if (fieldRef.trim() === '') out.required(warningAt.child('fieldRef'));
  });
  checkConditions(out, status.conditions ?? [], at.child('conditions'));
}
