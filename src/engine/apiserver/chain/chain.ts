import { internalServerError, StatusError } from '../../../kube/status.ts';
import type { Log } from '../../../lib/log.ts';
import { isServiceAccountName } from '../auth/authentication/service-account-identity.ts';
import { forbiddenStatus } from '../auth/forbidden.ts';
import { ANONYMOUS, type Attributes, type Authorizer, type Credentials, type UserInfo } from '../auth/user.ts';
import type { AuditLog } from './audit.ts';
import type { Fairness } from './fairness.ts';
import { parseRequestInfo, type RequestInfo } from './request-info.ts';
import { objectResponse, type ApiRequest, type ApiResponse, type RawExchange, type RequestBody } from './request.ts';
import type { RequestMetrics } from './request-metrics.ts';

/** A request as it arrives: from a socket with credentials, or from inside the process with a user. */
export interface Incoming {
  method: string;
  /** Path and query as they were sent. */
  url: string;
  headers: Record<string, string | string[] | undefined>;
  identity: { credentials: Credentials } | { user: UserInfo };
  body: RequestBody;
  signal(): AbortSignal;
  sourceAddress: string;
  /** The request on its socket, for answers that come from another server. */
  raw?: RawExchange;
}

export interface ChainParts {
  authenticate(credentials: Credentials): Promise<UserInfo | undefined> | UserInfo | undefined;
  /** The user to act as, when the request asks for it with Impersonate-* headers and `user` may. @throws StatusError */
  impersonate(user: UserInfo, headers: Incoming['headers'], authorizer: Authorizer): UserInfo | undefined;
  authorizer: Authorizer;
  fairness: Fairness;
  audit?: AuditLog;
  metrics: RequestMetrics;
  log: Log;
  now(): Date;
  newUid(): string;
  dispatchResource(request: ApiRequest): ApiResponse | Promise<ApiResponse>;
  dispatchPath(request: ApiRequest): ApiResponse | Promise<ApiResponse>;
}

interface Arrival {
  auditID: string;
  received: Date;
  /** On the monotonic clock. */
  started: number;
}

export interface Outcome {
  response: ApiResponse;
  auditID: string;
  warnings: string[];
}

/**
 * What every request passes, in this order: who is it, whom does it act as, is it its turn, may it do that, then the verb.
 * Whatever is thrown on the way becomes a Status; the rest is a bug of ours, logged, and told as InternalError.
 */
export class RequestChain {
  readonly #parts: ChainParts;

  constructor(parts: ChainParts) {
    this.#parts = parts;
  }

  async handle(incoming: Incoming): Promise<Outcome> {
    const arrival = this.#arrive();
    const request = requestOf(incoming);
    let response: ApiResponse;
    let originalUser: UserInfo | undefined;
    try {
      const identified = this.#identify(incoming, request);
      originalUser = identified instanceof Promise ? await identified : identified;
      response = await this.#inTurn(incoming, request, () =>
        request.info.isResource ? this.#parts.dispatchResource(request) : this.#parts.dispatchPath(request),
      );
    } catch (error) {
      response = this.#errorResponse(error, request);
    }
    this.#record(incoming, request, originalUser, arrival, response.status);
    // A write that is done again on a newer state warns again.
    const warnings = request.warnings.length > 1 ? [...new Set(request.warnings)] : request.warnings;
    return { response, auditID: arrival.auditID, warnings };
  }

  #arrive(): Arrival {
    return { auditID: this.#parts.newUid(), received: this.#parts.now(), started: performance.now() };
  }

  #record(incoming: Incoming, request: ApiRequest, originalUser: UserInfo | undefined, arrival: Arrival, code: number): void {
    const { metrics, audit, now } = this.#parts;
    metrics.observe(request.info, code, (performance.now() - arrival.started) / 1000);
    audit?.record({
      auditID: arrival.auditID,
      info: request.info,
      requestURI: incoming.url,
      user: originalUser ?? request.user,
      impersonatedUser: originalUser === undefined ? undefined : request.user,
      sourceIPs: [incoming.sourceAddress],
      userAgent: asText(incoming.headers['user-agent']),
      received: arrival.received,
      completed: now(),
      code,
      annotations: request.auditAnnotations,
    });
  }

  /**
   * The same for a connection that is about to leave HTTP. `run` takes it once it is known who asks and that they may, and resolves to
   * the code of the answer. @throws StatusError, which is still to be written.
   */
  async upgrade(incoming: Incoming, run: (request: ApiRequest) => Promise<number>): Promise<void> {
    const arrival = this.#arrive();
    const request = requestOf(incoming);
    let originalUser: UserInfo | undefined;
    let code = 500;
    try {
      originalUser = await this.#identify(incoming, request);
      code = await this.#inTurn(incoming, request, () => run(request));
    } catch (error) {
      const refusal = error instanceof StatusError ? error : this.#bug(error, request);
      code = refusal.code;
      throw refusal;
    } finally {
      this.#record(incoming, request, originalUser, arrival, code);
    }
  }

  /** Sets the user of the request. @returns who it really is, when it acts as another. */
  #identify(incoming: Incoming, request: ApiRequest): UserInfo | undefined | Promise<UserInfo | undefined> {
    const user = this.#authenticate(incoming);
    return user instanceof Promise ? user.then((found) => this.#actAs(found, request)) : this.#actAs(user, request);
  }

  #actAs(user: UserInfo, request: ApiRequest): UserInfo | undefined {
    request.user = user;
    if (!hasImpersonation(request.headers)) return undefined;
    const target = this.#parts.impersonate(user, request.headers, this.#parts.authorizer);
    if (target === undefined) return undefined;
    request.user = target;
    return user;
  }

  #authenticate(incoming: Incoming): UserInfo | Promise<UserInfo> {
    if ('user' in incoming.identity) return incoming.identity.user;
    const user = this.#parts.authenticate(incoming.identity.credentials);
    return user instanceof Promise ? user.then((found) => found ?? ANONYMOUS) : (user ?? ANONYMOUS);
  }

  async #inTurn<T>(incoming: Incoming, request: ApiRequest, run: () => T | Promise<T>): Promise<T> {
    const { fairness } = this.#parts;
    const flow = flowOf(incoming, request);
    const turn = fairness.acquire(flow);
    if (turn !== undefined) await turn;
    try {
      this.#authorize(request);
      if (isWaitedFor(request)) fairness.spare(flow);
      const answer = run();
      return answer instanceof Promise ? await answer : answer;
    } finally {
      fairness.release(flow);
    }
  }

  #authorize(request: ApiRequest): void {
    const attributes = attributesOf(request.user, request.info);
    const decision = this.#parts.authorizer.authorize(attributes);
    if (decision.allowed) {
      if (decision.reason !== '') request.auditAnnotations['authorization.k8s.io/reason'] = decision.reason;
      request.auditAnnotations['authorization.k8s.io/decision'] = 'allow';
      return;
    }
    request.auditAnnotations['authorization.k8s.io/decision'] = 'forbid';
    throw forbiddenStatus(attributes, decision.reason);
  }

  #errorResponse(error: unknown, request: ApiRequest): ApiResponse {
    if (error instanceof StatusError) {
      const retry = error.status.details?.retryAfterSeconds;
      return objectResponse(error.code, error.status, retry === undefined ? undefined : { 'retry-after': String(retry) });
    }
    return objectResponse(500, this.#bug(error, request).status);
  }

  #bug(error: unknown, request: ApiRequest): StatusError {
    this.#parts.log.error('request failed', { method: request.method, path: request.info.path, error });
    return internalServerError(error instanceof Error ? error.message : String(error));
  }
}

/** A controller in this process works for everybody: what it does in one namespace must not hold up what it does in another. */
function flowOf({ identity }: Incoming, { user, info }: ApiRequest): string {
  return 'user' in identity ? `${user.name}\0${info.namespace ?? ''}` : user.name;
}

/** Writes of people and of what works for them. Components ask by themselves, and reads wait for no commit. */
function isWaitedFor({ user, info }: ApiRequest): boolean {
  if (!info.isResource || !WRITES.has(info.verb)) return false;
  return !user.name.startsWith('system:') || isServiceAccountName(user.name);
}

const WRITES: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete']);

function requestOf(incoming: Incoming): ApiRequest {
  const { path, query } = splitUrl(incoming.url);
  return {
    method: incoming.method,
    info: parseRequestInfo(incoming.method, path, (name) => query.get(name) ?? undefined),
    query,
    headers: incoming.headers,
    user: ANONYMOUS,
    body: incoming.body,
    raw: incoming.raw,
    get signal() {
      return incoming.signal();
    },
    warnings: [],
    auditAnnotations: {},
  };
}

export function attributesOf(user: UserInfo, info: RequestInfo): Attributes {
  if (!info.isResource) return { user, verb: info.verb, path: info.path };
  return {
    user,
    verb: info.verb,
    group: info.group,
    version: info.version,
    resource: info.resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
    fieldSelector: info.fieldSelector,
  };
}

const NO_QUERY = new URLSearchParams();

function splitUrl(url: string): { path: string; query: URLSearchParams } {
  const mark = url.indexOf('?');
  if (mark < 0) return { path: url, query: NO_QUERY };
  return { path: url.slice(0, mark), query: mark === url.length - 1 ? NO_QUERY : new URLSearchParams(url.slice(mark + 1)) };
}

function hasImpersonation(headers: Incoming['headers']): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true;
  return false;
}

function asText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}
