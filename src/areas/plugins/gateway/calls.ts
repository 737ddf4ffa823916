import type { IncomingMessage } from 'node:http';
import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { orAborted } from '../../../lib/abort.ts';
import type { Clock } from '../../../lib/clock.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import type { Caller, Callers } from './callers.ts';
import type { GatewayMetrics } from './gateway-metrics.ts';
import { versionsFor } from './model/choose-version.ts';
import { idFrom, requestHeaders, valueOf, WEBSOCKET_HEADERS, type CallFacts } from './model/forwarded-headers.ts';
import { pluginPath, type PluginPath } from './model/plugin-path.ts';
import { hasBody, isWebSocketRequest } from './model/protocol-switch.ts';
import { Refusal } from './model/refusal.ts';
import { readRate, RequestRates } from './model/request-rate.ts';
import type { Endpoint, RouteTable } from './route-table.ts';
import type { Traffic } from './traffic.ts';
import { UpstreamFailure, type Answer, type Outgoing, type Timeouts, type Upstream } from './upstream.ts';

export interface CallsOptions {
  table: RouteTable;
  callers: Pick<Callers, 'identify' | 'authorize'>;
  upstream: Upstream;
  traffic: Traffic;
  metrics: GatewayMetrics;
  clock: Clock;
  random: () => number;
  timeouts: Timeouts;
  /** A request that has reached no Pod waits so long for one. */
  patienceMs: number;
}

/** The answer of a plugin, and what to call when the last of it has passed. */
export interface Answered {
  answer: Answer;
  ended(isWhole: boolean): void;
}

/** A request whose caller was found good. */
export interface Admitted {
  at: PluginPath;
  installation: PluginInstallation;
  facts: CallFacts;
}

/** Takes requests to plugins: who may, how many, to which version and Pod. */
export class Calls {
  readonly #options: CallsOptions;
  readonly #rates = new RequestRates();

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** @throws Refusal */
  async admit(request: IncomingMessage): Promise<Admitted> {
    const { table, callers, clock } = this.#options;
    const at = pluginPath(request.url ?? '');
    if (!at) throw new Refusal('NOT_FOUND', 'Cannot find this: it is not /<tenant>/<plugin>/...; correct the address');
    const { tenant, plugin } = at;
    const caller = await callers.identify(request.headers.authorization, request.socket.remoteAddress ?? '');
    await callers.authorize(caller, { method: request.method!, tenant, plugin });
    const installation = table.find(tenant, plugin);
    if (!installation || installation.metadata.deletionTimestamp !== undefined || !installation.status?.gateway?.routes?.length) {
      throw new Refusal('PLUGIN_NOT_INSTALLED', `Cannot find the plugin "${plugin}" of ${tenant}: it is not installed, or not yet`);
    }
    if (table.isSuspended(installation)) throw new Refusal('PLUGIN_SUSPENDED', `Cannot reach "${plugin}" of ${tenant}: it is suspended`);
    this.#count(installation, caller);
    return { at, installation, facts: factsOf(request, at, caller, clock.now()) };
  }

  /** Finds a Pod and sends the request there, once. @throws Refusal */
  async send(request: IncomingMessage, { at, facts, installation }: Admitted, signal: AbortSignal): Promise<Answered> {
    const { clock, patienceMs } = this.#options;
    const deadline = clock.monotonic() + patienceMs;
    const outgoing = outgoingOf(request, at, facts);
    const tried = new Set<string>();
    for (;;) {
      const choice = this.#choose(installation.metadata.namespace!, at.plugin, tried);
      if (!choice) {
        // Everything was tried, or there is nothing: what comes next is worth a new try of all.
        tried.clear();
        await this.#change(at, deadline - clock.monotonic(), signal);
        continue;
      }
      tried.add(addressOf(choice.endpoint));
      const answered = await this.#attempt(choice, outgoing, at, signal);
      if (answered) return answered;
      this.#options.metrics.retried(at.tenant, at.plugin);
    }
  }

  #count({ metadata, status, spec }: PluginInstallation, caller: Caller): void {
    const { requestRate = {} } = status!.gateway!;
    const key = `${metadata.namespace}/${metadata.name}`;
    const limits: [string | undefined, string][] = [
      [requestRate.perUser, `${key} ${caller.name}`],
      [requestRate.perTenant, key],
    ];
    const now = this.#options.clock.monotonic();
    const rates = limits.flatMap(([text, counted]) => (text === undefined ? [] : [{ text, counted, rate: readRate(text) }]));
    for (const { text, counted, rate } of rates) {
      const waitMs = this.#rates.wait(counted, rate, now);
      if (waitMs > 0)
        throw new Refusal('REQUEST_RATE_EXCEEDED', `Cannot let more requests to "${spec.plugin}" in: it takes ${text}; wait`, waitMs);
    }
    // Only what gets in is counted, by any of them.
    for (const { counted, rate } of rates) this.#rates.take(counted, rate, now);
  }

  /** A Pod of the version that the request falls to, else of another that gets requests. */
  #choose(tenant: string, plugin: string, tried: ReadonlySet<string>): Choice | undefined {
    const { table, random } = this.#options;
    const installation = table.find(tenant, plugin);
    if (!installation) return undefined;
    for (const route of versionsFor(installation.status?.gateway?.routes ?? [], random())) {
      const endpoints = table.endpoints(installation, route).filter((endpoint) => !tried.has(addressOf(endpoint)));
      const endpoint = endpoints[Math.floor(random() * endpoints.length)];
      if (endpoint) return { installation, version: route.version, endpoint };
    }
    return undefined;
  }

  /** Undefined when the Pod has seen nothing of it. @throws Refusal */
  async #attempt({ installation, version, endpoint }: Choice, outgoing: Outgoing, at: PluginPath, signal: AbortSignal) {
    const { upstream, traffic, metrics, clock, timeouts } = this.#options;
    const started = clock.monotonic();
    const counted = metrics.call(at.tenant, at.plugin, version);
    const underWay = traffic.begin(keyOf(installation), version);
    counted.began();
    const finish = (status: number | undefined, isError: boolean): void => {
      const ms = clock.monotonic() - started;
      underWay.ended(isError, ms);
      counted.ended(status, ms / 1000);
    };
    try {
      const answer = await upstream.send(endpoint, outgoing, timeouts, signal);
      const status = answer.response.statusCode!;
      return once({ answer, ended: (isWhole) => finish(status, status >= 500 || !isWhole) });
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      if (error.isUnsent) {
        underWay.unsent();
        counted.unsent();
      } else {
        // Who hangs up soon changed their mind; who does so late was kept waiting.
        finish(undefined, !error.isCallersFault && (!signal.aborted || clock.monotonic() - started > KEPT_WAITING_MS));
      }
      if (signal.aborted) throw new Refusal('PLUGIN_FAILED', 'the caller is gone');
      if (error.isUnsent) return undefined;
      if (error.isCallersFault) throw new Refusal('BODY_TIMEOUT', `Cannot pass this request on: ${error.message}; send it again`);
      const message = `Cannot get an answer of "${at.plugin}": ${error.message}`;
      throw new Refusal(error.isTimeout ? 'PLUGIN_TIMEOUT' : 'PLUGIN_FAILED', message);
    }
  }

  /** Until the routes or the Pods change, or a moment has passed: one that refuses connections may take them again without a word. */
  async #change({ plugin, tenant }: PluginPath, leftMs: number, signal: AbortSignal): Promise<void> {
    const { table, clock } = this.#options;
    if (leftMs <= 0)
      throw new Refusal('PLUGIN_UNAVAILABLE', `Cannot reach "${plugin}" of ${tenant}: no Pod of it answers; try again`, 1_000);
    let forget: (() => void) | undefined;
    const changed = new Promise<void>((resolve) => {
      forget = table.onceChanged(resolve);
      clock.setTimer(Math.min(leftMs, LOOK_AGAIN_MS), resolve);
    });
    try {
      await orAborted(changed, signal);
    } catch {
      throw new Refusal('PLUGIN_FAILED', 'the caller is gone');
    } finally {
      forget?.();
    }
  }
}

const LOOK_AGAIN_MS = 100;
const KEPT_WAITING_MS = 5_000;

interface Choice {
  installation: PluginInstallation;
  version: string;
  endpoint: Endpoint;
}

function once({ answer, ended }: Answered): Answered {
  let isOver = false;
  return {
    answer,
    ended(isWhole) {
      if (!isOver) ended(isWhole);
      isOver = true;
    },
  };
}

function addressOf({ host, port }: Endpoint): string {
  return `${host}:${port}`;
}

function factsOf(request: IncomingMessage, at: PluginPath, caller: Caller, now: number): CallFacts {
  return {
    tenant: at.tenant,
    caller: caller.name,
    correlationId: idFrom(valueOf(request.rawHeaders, 'x-correlation-id'), now),
    requestId: idFrom(valueOf(request.rawHeaders, 'x-request-id'), now),
    clientAddress: request.socket.remoteAddress ?? '',
    prefix: at.prefix,
    protocol: 'http',
  };
}

function outgoingOf(request: IncomingMessage, { path }: PluginPath, facts: CallFacts): Outgoing {
  const { rawHeaders, method, headers: read } = request;
  const headers = [...requestHeaders(rawHeaders, facts), ...(isWebSocketRequest(request) ? WEBSOCKET_HEADERS : [])];
  return { method: method!, path, headers, ...(hasBody(read) ? { body: request } : {}) };
}
