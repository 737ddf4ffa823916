import type { FieldError } from '../../../kube/field-error.ts';
import { quote } from '../../../kube/go-text.ts';
import { invalidValue, requiredValue } from '../schema/findings.ts';
import { isRequestUri } from '../schema/formats.ts';
import type { CustomResourceDefinition, DefinitionCondition } from './definition.ts';

/** Groups of the Kubernetes project may only be used by CRDs that say who approved them. */
const ANNOTATION = 'api-approved.kubernetes.io';
const SEE = 'see https://github.com/kubernetes/enhancements/pull/1111';

type Approval = { state: 'invalid' | 'approved' | 'bypassed' | 'missing'; reason: string };

export function isProtectedGroup(group: string): boolean {
  return ['k8s.io', 'kubernetes.io'].some((suffix) => group === suffix || group.endsWith(`.${suffix}`));
}

function approvalOf(definition: CustomResourceDefinition): Approval {
  const annotation = definition.metadata.annotations?.[ANNOTATION] ?? '';
  if (annotation === '') {
    return { state: 'missing', reason: `protected groups must have approval annotation ${quote(ANNOTATION)}, ${SEE}` };
  }
  if (annotation.startsWith('unapproved')) return { state: 'bypassed', reason: `not approved: ${quote(annotation)}` };
  if (isRequestUri(annotation) && /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#]/.test(annotation)) {
    return { state: 'approved', reason: `approved in ${annotation}` };
  }
  const detail = `protected groups must have approval annotation ${quote(ANNOTATION)} with either a URL or a reason starting with "unapproved", ${SEE}`;
  return { state: 'invalid', reason: detail };
}

export function checkApproval(definition: CustomResourceDefinition, old: CustomResourceDefinition | undefined): FieldError[] {
  if (!isProtectedGroup(definition.spec.group ?? '')) return [];
  const approval = approvalOf(definition);
  if (old !== undefined && approvalOf(old).state === approval.state) return [];
  const path = `metadata.annotations[${ANNOTATION}]`;
  if (approval.state === 'missing') return [requiredValue(path, approval.reason)];
  if (approval.state === 'invalid') {
    return [invalidValue(path, definition.metadata.annotations?.[ANNOTATION] ?? '', approval.reason)];
  }
  return [];
}

const CONDITIONS: Record<Approval['state'], Pick<DefinitionCondition, 'status' | 'reason'>> = {
  invalid: { status: 'False', reason: 'InvalidAnnotation' },
  missing: { status: 'False', reason: 'MissingAnnotation' },
  approved: { status: 'True', reason: 'ApprovedAnnotation' },
  bypassed: { status: 'False', reason: 'UnapprovedAnnotation' },
};

/** The condition of a CRD in a protected group, or undefined for others. */
export function approvalCondition(definition: CustomResourceDefinition): DefinitionCondition | undefined {
  if (!isProtectedGroup(definition.spec.group)) return undefined;
  const { state, reason } = approvalOf(definition);
  return { type: 'KubernetesAPIApprovalPolicyConformant', ...CONDITIONS[state], message: reason };
}
