import type { KubeObject } from '../../../../kube/object.ts';
import type { ObjectReader } from '../../registry/objects.ts';
import type { AdmissionRequest } from '../admission.ts';
import type { Outbound } from '../../outbound/outbound.ts';
import type { ResolveService } from './call.ts';
import type { CompileConditions } from './compiled-webhook.ts';
import type { WebhookObservation } from './consult.ts';
import type { Equivalents } from './webhook-index.ts';

export interface WebhookOptions {
  reader: ObjectReader;
  /** Where a webhook's service leads: an address, or a function of this process. */
  resolve: ResolveService;
  /** How they are reached; by their addresses unless told otherwise. */
  outbound?: Outbound;
  /** For matchConditions. */
  compileConditions: CompileConditions;
  /** For matchPolicy Equivalent. Without it webhooks see only the versions their rules name. */
  equivalents?: Equivalents;
  /** Types and defaults of a patched object, in the version of the request. @throws when it is no such object any more. */
  decode: (request: AdmissionRequest, object: KubeObject) => KubeObject;
  newUid: () => string;
  observe?: (observation: WebhookObservation) => void;
  /** Milliseconds of a monotonic clock, for the observations. */
  now?: () => number;
}
