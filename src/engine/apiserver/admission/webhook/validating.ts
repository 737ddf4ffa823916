import { failure } from '../../../../kube/status.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts';
import { WebhookClient } from './call.ts';
import { consult } from './consult.ts';
import type { Invocation } from './review.ts';
import { invocationFor } from './selection.ts';
import { WebhookIndex, type Candidate } from './webhook-index.ts';
import type { WebhookOptions } from './webhook-options.ts';

interface Selected {
  candidate: Candidate;
  invocation: Invocation;
}

/** Asks all matching validating webhooks at once; the first refusal counts. */
export function validatingWebhooks(options: WebhookOptions): AdmissionPlugin & { resourcesChanged(): void } {
  const index = new WebhookIndex(options.reader, 'validatingwebhookconfigurations', options.compileConditions, options.equivalents);
  const consultation = {
    ...options,
    client: new WebhookClient(options.resolve, options.outbound),
    now: options.now ?? (() => performance.now()),
  };

  async function ask({ webhook }: Candidate, position: number, request: AdmissionRequest, invocation: Invocation): Promise<void> {
    const reached = await consult(webhook, 'validating', request, invocation, consultation);
    if (!reached) request.annotate(`failed-open.validating.webhook.admission.k8s.io/round_0_index_${position}`, webhook.name);
  }

  /** Synchronous when the selectors and conditions of all webhooks leave the request out. */
  function dispatch(request: AdmissionRequest): Promise<void> | void {
    const selected: Selected[] = [];
    for (const candidate of index.candidates(request)) {
      const invocation = invocationFor(candidate, request, options.reader, options.equivalents);
      if (invocation instanceof Promise) {
        // Converted again when its turn comes; a failure is told then.
        invocation.catch(() => {});
        return dispatchAll(request);
      }
      if (invocation) selected.push({ candidate, invocation });
    }
    if (selected.length > 0) return askAll(request, selected);
  }

  async function dispatchAll(request: AdmissionRequest): Promise<void> {
    const selected: Selected[] = [];
    for (const candidate of index.candidates(request)) {
      const invocation = await invocationFor(candidate, request, options.reader, options.equivalents);
      if (invocation) selected.push({ candidate, invocation });
    }
    await askAll(request, selected);
  }

  async function askAll(request: AdmissionRequest, selected: Selected[]): Promise<void> {
    if (request.signal.aborted) throw failure('Timeout', 'Timeout: request did not complete within requested timeout');
    const calls = selected.map(({ candidate, invocation }, position) => ask(candidate, position, request, invocation));
    let first: { error: unknown } | undefined;
    await Promise.all(calls.map((call) => call.catch((error: unknown) => void (first ??= { error }))));
    if (first) throw first.error;
  }

  return {
    name: 'ValidatingAdmissionWebhook',
    handles: (request) => index.candidates(request).length > 0,
    validate: dispatch,
    resourcesChanged: () => index.resourcesChanged(),
  };
}
