import type { Json } from '../../../kube/object.ts';
import { newUid } from '../../../lib/ids.ts';
import { WebhookClient, type CalledWebhook, type ResolveService } from '../admission/webhook/call.ts';
import type { ClientConfig } from '../admission/webhook/compiled-webhook.ts';
import type { Outbound } from '../outbound/outbound.ts';
import type { ConvertObjects } from './conversion.ts';
import type { CustomResourceDefinition } from './definition.ts';

const GROUP = 'apiextensions.k8s.io';
const SPOKEN = ['v1', 'v1beta1'];
const TIMEOUT_SECONDS = 30;

/** Sends objects to the conversion webhook of their definition, as ConversionReview. Reasons of failures are Kubernetes' words. */
export function conversionWebhooks(resolve: ResolveService, outbound?: Outbound): ConvertObjects {
  const client = new WebhookClient(resolve, outbound);
  /** By definition as it is served, so that connections are let go with it. */
  const webhooks = new WeakMap<CustomResourceDefinition, CalledWebhook>();
  const webhookOf = (definition: CustomResourceDefinition): CalledWebhook => {
    let webhook = webhooks.get(definition);
    if (webhook === undefined) {
      const clientConfig = (definition.spec.conversion?.webhook?.clientConfig ?? {}) as ClientConfig;
      webhooks.set(definition, (webhook = { clientConfig, timeoutSeconds: TIMEOUT_SECONDS }));
    }
    return webhook;
  };
  return async (definition, objects, desiredAPIVersion) => {
    const offered = definition.spec.conversion?.webhook?.conversionReviewVersions ?? [];
    const version = offered.find((candidate) => SPOKEN.includes(candidate));
    if (version === undefined) throw new Error('no supported conversion review versions');
    const apiVersion = `${GROUP}/${version}`;
    const uid = newUid();
    const review = { kind: 'ConversionReview', apiVersion, request: { uid, desiredAPIVersion, objects } };
    let answer: Json;
    try {
      answer = await client.call(webhookOf(definition), review, new AbortController().signal);
    } catch (error) {
      throw new Error((error as Error).message.replace(/^failed to call webhook: /, ''), { cause: error });
    }
    return convertedObjects(answer, apiVersion, uid);
  };
}

function convertedObjects(answer: Json, apiVersion: string, uid: string): Json[] {
  if (answer?.kind !== 'ConversionReview' || answer.apiVersion !== apiVersion) {
    const { apiVersion: gotVersion = '', kind: gotKind = '' } = (answer ?? {}) as { apiVersion?: string; kind?: string };
    throw new Error(`expected webhook response of ${apiVersion}, Kind=ConversionReview, got ${gotVersion}, Kind=${gotKind}`);
  }
  const { response } = answer;
  if (response === undefined || response === null) throw new Error('no response provided');
  // The first version of the review did not ask webhooks to repeat the uid.
  if (apiVersion.endsWith('/v1') && response.uid !== uid) {
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? '')}`);
  }
  const { status, message } = response.result ?? {};
  if (status !== 'Success') throw new Error(message || `response.result.status was '${status ?? ''}', not 'Success'`);
  return response.convertedObjects ?? [];
}
