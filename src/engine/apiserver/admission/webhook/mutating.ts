import { applyJsonPatch } from '../../../../kube/json-patch.ts';
import { deepCopy, semanticEqual } from '../../../../kube/json-value.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { parseStrict } from '../../../../kube/strict-json.ts';
import type { AdmissionPlugin, AdmissionRequest, Reinvocation } from '../admission.ts';
import { internalError } from '../internal-error.ts';
import { WebhookCallError, WebhookClient } from './call.ts';
import type { CompiledWebhook } from './compiled-webhook.ts';
import { consult, type ConsultOptions } from './consult.ts';
import type { Invocation, ReviewResponse } from './review.ts';
import { invocationFor } from './selection.ts';
import { WebhookIndex, type Candidate } from './webhook-index.ts';
import type { WebhookOptions } from './webhook-options.ts';

const AUDIT_PREFIX = 'mutation.webhook.admission.k8s.io/';

/**
 * Asks the matching mutating webhooks one after the other, each with what the one before made of the object. When a later
 * one changes it, those with reinvocationPolicy IfNeeded see it once more, after the built-in plugins have.
 */
export function mutatingWebhooks(options: WebhookOptions): AdmissionPlugin & { resourcesChanged(): void } {
  const index = new WebhookIndex(options.reader, 'mutatingwebhookconfigurations', options.compileConditions, options.equivalents);
  const consultation: ConsultOptions = {
    ...options,
    client: new WebhookClient(options.resolve, options.outbound),
    now: options.now ?? (() => performance.now()),
  };

  /** Synchronous when the selectors and conditions of all webhooks leave the request out. */
  function dispatch(request: AdmissionRequest): Promise<void> | void {
    const concerns = (candidate: Candidate) => {
      const invocation = invocationFor(candidate, request, options.reader, options.equivalents);
      // Converted again when its turn comes; a failure is told then.
      if (invocation instanceof Promise) invocation.catch(() => {});
      return invocation !== undefined;
    };
    if (index.candidates(request).some(concerns)) return dispatchAll(request);
  }

  async function dispatchAll(request: AdmissionRequest): Promise<void> {
    const reinvocation = (request.reinvocation ??= { requested: false, active: false, invoked: new Set(), again: new Set() });
    if (reinvocation.active && reinvocation.lastSeen !== JSON.stringify(request.object)) callAgain(reinvocation);
    for (const candidate of index.candidates(request)) {
      const invocation = await invocationFor(candidate, request, options.reader, options.equivalents);
      if (!invocation || (reinvocation.active && !reinvocation.again.has(candidate.webhook.key))) continue;
      const changed = await ask(candidate, request, invocation, reinvocation.active ? 1 : 0);
      if (changed) {
        callAgain(reinvocation);
        reinvocation.requested = true;
      }
      if (candidate.webhook.reinvocable) reinvocation.invoked.add(candidate.webhook.key);
    }
    reinvocation.lastSeen = JSON.stringify(request.object);
  }

  /** @returns whether the object is another one now. */
  async function ask(candidate: Candidate, request: AdmissionRequest, invocation: Invocation, round: number): Promise<boolean> {
    const { webhook } = candidate;
    const key = `round_${round}_index_${candidate.index}`;
    let changed = false;
    try {
      const reached = await consult(webhook, 'admit', request, invocation, consultation, async (response) => {
        const patched = patchedObject(webhook, invocation, response);
        if (!patched) return;
        const before = request.object;
        request.object = await backConverted(patched, candidate, request);
        changed = !semanticEqual(before, request.object);
      });
      if (!reached) request.annotate(`failed-open.${AUDIT_PREFIX}${key}`, webhook.name);
    } finally {
      const value = { configuration: webhook.configuration, webhook: webhook.name, mutated: changed };
      request.annotate(AUDIT_PREFIX + key, JSON.stringify(value));
    }
    return changed;
  }

  async function backConverted(patched: KubeObject, { kind }: Candidate, request: AdmissionRequest): Promise<KubeObject> {
    const sameVersion = kind.version === request.kind.version && kind.group === request.kind.group;
    try {
      const own = sameVersion || !options.equivalents ? patched : await options.equivalents.convert(patched, request.kind);
      return options.decode(request, own);
    } catch (error) {
      throw internalError((error as Error).message);
    }
  }

  return {
    name: 'MutatingAdmissionWebhook',
    handles: (request) => index.candidates(request).length > 0,
    mutate: dispatch,
    resourcesChanged: () => index.resourcesChanged(),
  };
}

function callAgain(reinvocation: Reinvocation): void {
  for (const key of reinvocation.invoked) reinvocation.again.add(key);
  reinvocation.invoked.clear();
}

function patchedObject(webhook: CompiledWebhook, { object }: Invocation, response: ReviewResponse): KubeObject | undefined {
  if (!response.patch) return undefined;
  const operations = decodedPatch(response.patch);
  if (operations.length === 0) return undefined;
  if (!object) {
    throw internalError(`admission webhook "${webhook.name}" attempted to modify the object, which is not supported for this operation`);
  }
  if (response.patchType !== 'JSONPatch') throw new WebhookCallError(`unsupported patch type "${response.patchType}"`);
  try {
    return applyJsonPatch(deepCopy(object), operations) as KubeObject;
  } catch (error) {
    throw internalError(((error as Error).cause as Error | undefined)?.message ?? (error as Error).message);
  }
}

function decodedPatch(patch: string): Json[] {
  try {
    const operations: unknown = parseStrict(Buffer.from(patch, 'base64'));
    if (!Array.isArray(operations)) throw new Error('json: cannot unmarshal object into Go value of type jsonpatch.Patch');
    return operations;
  } catch (error) {
    throw new WebhookCallError(`received undecodable patch in webhook response: ${(error as Error).message}`);
  }
}
