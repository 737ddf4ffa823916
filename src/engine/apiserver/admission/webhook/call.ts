import type { Agent, RequestOptions } from 'node:https';
import { deepCopy } from '../../../../kube/json-value.ts';
import type { Json } from '../../../../kube/object.ts';
import { parseStrict } from '../../../../kube/strict-json.ts';
import type { ClientConfig, CompiledWebhook } from './compiled-webhook.ts';
import { goHttpError } from './go-http-error.ts';
import type { AdmissionReview } from './review.ts';
import { serverStatusText } from './server-status.ts';
import { ANYWHERE, type Destination, type Outbound } from '../../outbound/outbound.ts';
import { throughTunnel } from '../../outbound/through-tunnel.ts';

export interface ServiceReference {
  namespace: string;
  name: string;
  port: number;
  path: string;
}

/** Where a Service leads: to an address, or to a function of this process that answers as a webhook would. */
export type ServiceTarget = Destination | { handler: ReviewHandler };
export type ReviewHandler = (review: AdmissionReview, signal: AbortSignal) => AdmissionReview | Promise<AdmissionReview>;
/** @throws Error in Kubernetes' words (`service "x" not found`) when there is no way. */
export type ResolveService = (service: ServiceReference) => ServiceTarget;

/** What has to be known of a webhook to call it. */
export type CalledWebhook = Pick<CompiledWebhook, 'clientConfig' | 'timeoutSeconds'>;

/** The webhook could not be reached or did not answer as one. What happens now is up to its failure policy. */
export class WebhookCallError extends Error {
  override readonly name = 'WebhookCallError';
}

/** Longer than any webhook's timeout. */
const IDLE_MS = 45_000;
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** Sends reviews to webhooks. Connections are kept open per webhook. */
export class WebhookClient {
  readonly #resolve: ResolveService;
  readonly #outbound: Outbound;
  /** Keyed by the compiled webhook: when its configuration changes, the agent and its idle connections are let go with it. */
  readonly #agents = new WeakMap<CalledWebhook, Agent>();

  constructor(resolve: ResolveService, outbound: Outbound = ANYWHERE) {
    this.#resolve = resolve;
    this.#outbound = outbound;
  }

  /** @throws WebhookCallError; an aborted `signal` counts as one. */
  async call(webhook: CalledWebhook, review: object, signal: AbortSignal): Promise<Json> {
    const url = callUrl(webhook.clientConfig, webhook.timeoutSeconds);
    const deadline = new Deadline(webhook.timeoutSeconds * 1000, signal);
    try {
      return await this.#send(webhook, url, review, deadline.signal);
    } catch (error) {
      if (error instanceof WebhookCallError) throw error;
      const why = deadline.passed
        ? 'context deadline exceeded'
        : signal.aborted
          ? 'context canceled'
          : goHttpError(error as Error, url.hostname);
      throw new WebhookCallError(`failed to call webhook: Post "${url.text}": ${why}`, { cause: error });
    } finally {
      deadline.stop();
    }
  }

  async #send(webhook: CalledWebhook, url: CallUrl, review: object, signal: AbortSignal): Promise<Json> {
    const { service } = webhook.clientConfig;
    const address = { host: url.hostname, port: url.port };
    const target: ServiceTarget = service ? this.#resolve({ ...service, port: url.port, path: service.path ?? '/' }) : address;
    if ('handler' in target) return abortable(target.handler(deepCopy(review) as AdmissionReview, signal), signal);
    const { request, Agent } = await import('node:https');
    const tunnel = await this.#outbound.dial(target);
    let agent = this.#agents.get(webhook);
    if (!agent) this.#agents.set(webhook, (agent = new Agent({ keepAlive: true, maxFreeSockets: 8, timeout: IDLE_MS })));
    const options = requestOptions(webhook, url, target, signal);
    const way = tunnel ? await throughTunnel(tunnel, options) : { agent, ...this.#outbound.connectOptions(target.host) };
    const { status, text } = await post(request, { ...options, ...way }, JSON.stringify(review));
    if (status < 200 || status > 206) throw new WebhookCallError(`failed to call webhook: ${serverStatusText(status, text)}`);
    return parsedAnswer(status, text);
  }
}

function parsedAnswer(status: number, text: string): Json {
  if (text === '') {
    throw new WebhookCallError(`failed to call webhook: 0-length response with status code: ${status} and content type: application/json`);
  }
  try {
    return parseStrict(text);
  } catch (error) {
    throw new WebhookCallError(`failed to call webhook: couldn't get version/kind; json parse error: ${(error as Error).message}`);
  }
}

interface CallUrl {
  /** As it stands in messages. */
  text: string;
  hostname: string;
  port: number;
  path: string;
  hostHeader: string;
}

/** `https://name.namespace.svc:443/path?timeout=10s`: for services Go's client shows the port, for URLs only if it was given. */
function callUrl({ service, url }: ClientConfig, timeoutSeconds: number): CallUrl {
  if (!service && !url) throw new WebhookCallError('could not get REST client: webhook configuration must have either service or URL');
  const port = service?.port ?? 443;
  const parsed = new URL(service ? `https://${service.name}.${service.namespace}.svc` : url!);
  if (service) parsed.pathname = service.path ?? '/';
  parsed.searchParams.set('timeout', `${timeoutSeconds}s`);
  const path = parsed.pathname + parsed.search;
  const hostHeader = service ? `${parsed.hostname}:${port}` : parsed.host;
  const hostname = parsed.hostname.replace(/^\[|\]$/g, '');
  return { text: `https://${hostHeader}${path}`, hostname, port: service ? port : Number(parsed.port || 443), path, hostHeader };
}

function requestOptions(webhook: CalledWebhook, url: CallUrl, target: Destination, signal: AbortSignal): RequestOptions {
  const { caBundle } = webhook.clientConfig;
  return {
    method: 'POST',
    host: target.host,
    port: target.port,
    path: url.path,
    servername: /^[\d.]+$|:/.test(url.hostname) ? '' : url.hostname,
    ca: caBundle ? Buffer.from(caBundle, 'base64') : undefined,
    signal,
    headers: {
      host: url.hostHeader,
      'user-agent': 'kube-apiserver-admission',
      accept: 'application/json, */*',
      'content-type': 'application/json',
    },
  };
}

function post(
  request: typeof import('node:https').request,
  options: RequestOptions,
  body: string,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(options, (answer) => {
      const chunks: Buffer[] = [];
      let size = 0;
      answer.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_ANSWER_BYTES) answer.destroy(new Error(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`));
        else chunks.push(chunk);
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
      answer.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** The caller's signal or the webhook's own timeout, whichever comes first. */
class Deadline {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #outer: AbortSignal;
  readonly #forward = () => this.#controller.abort(this.#outer.reason);
  passed = false;

  constructor(ms: number, outer: AbortSignal) {
    this.#outer = outer;
    this.#timer = setTimeout(() => {
      this.passed = true;
      this.#controller.abort(new Error('context deadline exceeded'));
    }, ms);
    if (outer.aborted) this.#forward();
    else outer.addEventListener('abort', this.#forward, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener('abort', this.#forward);
  }
}

function abortable<T>(work: T | Promise<T>, signal: AbortSignal): T | Promise<T> {
  if (!(work instanceof Promise)) return work;
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
