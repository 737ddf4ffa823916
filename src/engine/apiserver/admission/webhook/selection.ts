import type { LabelMatcher } from '../../../../kube/label-selector.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { forbiddenError, notFoundError } from '../../../../kube/status.ts';
import { internalError } from '../internal-error.ts';
import type { ObjectReader } from '../../registry/objects.ts';
import type { AdmissionRequest } from '../admission.ts';
import { effectiveNamespace, isNamespaceResource } from '../refusal.ts';
import type { CompiledWebhook } from './compiled-webhook.ts';
import type { Invocation } from './review.ts';
import type { Candidate, Equivalents } from './webhook-index.ts';

const NAMESPACES = { group: '', resource: 'namespaces' };

/**
 * The request as the webhook shall see it, or undefined when its selectors or conditions leave it out.
 * A promise only when the object has to be converted by one.
 */
export function invocationFor(
  candidate: Candidate,
  request: AdmissionRequest,
  reader: ObjectReader,
  equivalents: Equivalents | undefined,
): Invocation | undefined | Promise<Invocation | undefined> {
  const { webhook } = candidate;
  if (!namespaceSelected(webhook, request, reader) || !objectSelected(webhook, request)) return undefined;
  const invocation = converted(candidate, request, equivalents);
  return invocation instanceof Promise
    ? invocation.then((ready) => (conditionsHold(webhook, request, ready) ? ready : undefined))
    : conditionsHold(webhook, request, invocation)
      ? invocation
      : undefined;
}

/** What narrows webhooks and policies to some namespaces and objects. */
export interface Selectors {
  namespaceSelector: () => LabelMatcher;
  objectSelector: () => LabelMatcher;
}

export function namespaceSelected(selectors: Selectors, request: AdmissionRequest, reader: ObjectReader): boolean {
  const isNamespace = isNamespaceResource(request);
  if (request.namespace === '' && !isNamespace) return true;
  const selector = readable(selectors.namespaceSelector);
  if (selector.empty) return true;
  if (isNamespace && request.subresource === '' && request.object && request.operation !== 'DELETE') {
    return selector.matches(request.object.metadata.labels);
  }
  const name = effectiveNamespace(request);
  const namespace = reader.get(NAMESPACES, '', name);
  if (!namespace) throw notFoundError(NAMESPACES, name);
  return selector.matches(namespace.metadata.labels);
}

export function objectSelected(selectors: Selectors, { object, oldObject }: AdmissionRequest): boolean {
  const selector = readable(selectors.objectSelector);
  if (selector.empty) return true;
  return [object, oldObject].some((candidate) => candidate?.metadata !== undefined && selector.matches(candidate.metadata.labels));
}

function readable<T>(selector: () => T): T {
  try {
    return selector();
  } catch (error) {
    throw internalError((error as Error).message);
  }
}

export function converted(
  candidate: Pick<Candidate, 'resource' | 'kind'>,
  request: AdmissionRequest,
  equivalents: Equivalents | undefined,
): Invocation | Promise<Invocation> {
  const { resource, kind } = candidate;
  const { object, oldObject } = request;
  if (kind === request.kind || !equivalents || (kind.group === request.kind.group && kind.version === request.kind.version)) {
    return { resource, kind, object, oldObject };
  }
  const to = (subject: KubeObject | undefined) => subject && equivalents.convert(subject, kind);
  return Promise.all([to(object), to(oldObject)]).then(([newer, older]) => ({ resource, kind, object: newer, oldObject: older }));
}

function conditionsHold(webhook: CompiledWebhook, request: AdmissionRequest, invocation: Invocation): boolean {
  if (!webhook.conditions) return true;
  try {
    return webhook.conditions(request, invocation);
  } catch (error) {
    throw forbiddenError(request.resource, request.name, (error as Error).message);
  }
}
