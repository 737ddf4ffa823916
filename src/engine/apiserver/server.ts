import { failure } from '../../kube/status.ts';
import { newUid, randomSuffix } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { MetricsRegistry } from '../../lib/metrics.ts';
import type { Store } from '../store/store.ts';
import type { Admission } from './admission/chain.ts';
import type { Authorizer, Credentials, UserInfo } from './auth/user.ts';
import type { AuditLog } from './chain/audit.ts';
import { RequestChain, type Incoming, type Outcome } from './chain/chain.ts';
import { dispatchResource, standardSubresources, type RequestHandler } from './chain/dispatch.ts';
import { DEFAULT_FAIRNESS, Fairness, type FairnessOptions } from './chain/fairness.ts';
import { healthResponse, type HealthCheck } from './chain/health.ts';
import { RequestMetrics } from './chain/request-metrics.ts';
import { objectResponse, textResponse, type ApiRequest, type ApiResponse } from './chain/request.ts';
import { Discovery, pageNotFound, type ForeignVersion } from './discovery/discovery.ts';
import { OpenApi, type ForeignDefinitions, type ForeignDocument, type PublishedKind } from './openapi/openapi.ts';
import { Catalog } from './registry/catalog.ts';
import { ObjectCache } from './registry/object-cache.ts';
import type { ObjectWriter } from './registry/objects.ts';
import type { Resource } from './registry/resource.ts';
import { StoredObjects } from './registry/stored-objects.ts';
import type { ServerCore } from './verbs/core.ts';
import { WatchHub } from './watch/hub.ts';

/** The objects that everything else is built on: made first, because authorization and admission read from them. */
export interface ServerFoundation {
  core: Omit<ServerCore, 'admission' | 'authorizer'>;
  objects: ObjectWriter;
  metrics: MetricsRegistry;
}

const NONE: readonly ForeignVersion[] = [];
const PARSED_CACHE_BYTES = 16 * 1024 * 1024;

export function createFoundation(store: Store, resources: readonly Resource[], now: () => Date = () => new Date()): ServerFoundation {
  const catalog = new Catalog();
  catalog.register(resources);
  const core = {
    store,
    catalog,
    cache: new ObjectCache(PARSED_CACHE_BYTES),
    hub: new WatchHub(store),
    now,
    newUid,
    randomSuffix: () => randomSuffix(5),
  };
  return { core, objects: new StoredObjects(core), metrics: new MetricsRegistry() };
}

export interface ApiServerParts {
  foundation: ServerFoundation;
  authenticate(credentials: Credentials): Promise<UserInfo | undefined> | UserInfo | undefined;
  impersonate(user: UserInfo, headers: Incoming['headers'], authorizer: Authorizer): UserInfo | undefined;
  authorizer: Authorizer;
  admission: Admission;
  /** Reviews and other resources that are answered without being stored, by `group/resource`. */
  virtual?: Map<string, RequestHandler>;
  /** More subresources, by `group/resource/subresource`. */
  subresources?: Map<string, RequestHandler>;
  /** Paths outside the API: JWKS, backup ... */
  paths?: Map<string, (request: ApiRequest) => ApiResponse | Promise<ApiResponse>>;
  custom?: () => readonly PublishedKind[];
  /** Other API servers behind this one. */
  foreign?: ForeignServers;
  audit?: AuditLog;
  fairness?: FairnessOptions;
  health: readonly HealthCheck[];
  version: object;
  log: Log;
}

export interface ForeignServers {
  generation(): number;
  versions(): readonly ForeignVersion[];
  documents(): readonly ForeignDocument[];
  /** What they add to the OpenAPI v2 document. */
  definitions(): readonly ForeignDefinitions[];
  /** The answer of another server to a request that is authenticated and authorized; undefined when this one answers. */
  answer(request: ApiRequest): ApiResponse | Promise<ApiResponse> | undefined;
}

/** The server without its socket: requests in, answers out. Sockets and in-process callers enter at the same place. */
export class ApiServer {
  readonly core: ServerCore;
  readonly objects: ObjectWriter;
  readonly #parts: ApiServerParts;
  readonly #chain: RequestChain;
  readonly #discovery: Discovery;
  readonly #openApi: OpenApi;
  #underWay = 0;
  readonly #idleWaiters: (() => void)[] = [];

  constructor(parts: ApiServerParts) {
    const { foundation } = parts;
    this.#parts = parts;
    this.core = Object.assign(foundation.core, { admission: parts.admission, authorizer: parts.authorizer });
    this.objects = foundation.objects;
    this.#discovery = new Discovery(this.core.catalog, () => parts.foreign?.versions() ?? NONE);
    this.#openApi = new OpenApi({
      generation: () => this.core.catalog.generation + (parts.foreign?.generation() ?? 0),
      custom: parts.custom ?? (() => []),
      foreign: () => parts.foreign?.documents() ?? [],
      foreignDefinitions: () => parts.foreign?.definitions() ?? [],
    });
    const fairness = new Fairness(parts.fairness ?? DEFAULT_FAIRNESS);
    const routes = {
      core: this.core,
      objects: this.objects,
      virtual: parts.virtual ?? new Map<string, RequestHandler>(),
      subresources: new Map([...standardSubresources(this.core, this.objects), ...(parts.subresources ?? [])]),
    };
    this.#chain = new RequestChain({
      authenticate: (credentials) => parts.authenticate(credentials),
      impersonate: parts.impersonate,
      authorizer: parts.authorizer,
      fairness,
      audit: parts.audit,
      metrics: new RequestMetrics(foundation.metrics),
      log: parts.log,
      now: this.core.now,
      newUid: this.core.newUid,
      dispatchResource: (request) => parts.foreign?.answer(request) ?? dispatchResource(routes, request),
      dispatchPath: (request) => this.#path(request),
    });
    this.#exposeGauges(fairness);
  }

  async handle(incoming: Incoming): Promise<Outcome> {
    this.#underWay++;
    try {
      return await this.#chain.handle(incoming);
    } finally {
      if (--this.#underWay === 0) for (const resolve of this.#idleWaiters.splice(0)) resolve();
    }
  }

  /** Resolves when no request is worked on. Who has sent one may have gone long before: in the same process too. */
  whenIdle(): Promise<void> {
    return this.#underWay === 0 ? Promise.resolve() : new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  /** For WebSocket and SPDY: `run` gets the request once it is authenticated and authorized. @throws StatusError */
  upgrade(incoming: Incoming, run: (request: ApiRequest) => Promise<number>): Promise<void> {
    return this.#chain.upgrade(incoming, run);
  }

  close(): void {
    this.core.hub.close();
  }

  #exposeGauges(fairness: Fairness): void {
    const { metrics } = this.#parts.foundation;
    const gauge = (name: string, help: string) => metrics.gauge(name, help).labels();
    const executing = gauge('apiserver_current_inflight_requests', 'Requests being executed.');
    const waiting = gauge('apiserver_flowcontrol_current_inqueue_requests', 'Requests waiting for their turn.');
    const rejected = gauge('apiserver_flowcontrol_rejected_requests_total', 'Requests told to come back later.');
    const watches = gauge('apiserver_longrunning_requests', 'Open watches.');
    const revision = gauge('tenantry_store_revision', 'Revision of the newest durable write.');
    metrics.beforeExpose(() => {
      executing.set(fairness.executing);
      waiting.set(fairness.waiting);
      rejected.set(fairness.rejected);
      watches.set(this.core.hub.size);
      revision.set(this.core.store.revision);
    });
  }

  #path(request: ApiRequest): ApiResponse | Promise<ApiResponse> {
    const { path } = request.info;
    const custom = this.#parts.paths?.get(path);
    if (custom !== undefined) return custom(request);
    if (request.method !== 'GET' && request.method !== 'HEAD')
      throw failure('MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
    const endpoint = /^\/(?:livez|readyz|healthz)(?=\/|$)/.exec(path)?.[0];
    if (endpoint !== undefined) return healthResponse(endpoint, path, request.query, this.#parts.health);
    if (path === '/version' || path === '/version/') return objectResponse(200, this.#parts.version);
    if (path === '/metrics') {
      return textResponse(200, this.#parts.foundation.metrics.expose(), 'text/plain; version=0.0.4; charset=utf-8');
    }
    if (path.startsWith('/openapi/')) return this.#openApi.answer(path, request).then((answer) => answer ?? pageNotFound());
    if (path === '/') return objectResponse(200, { paths: this.#paths() });
    return this.#discovery.answer(path, request) ?? pageNotFound();
  }

  #paths(): string[] {
    const groups = this.#discovery.groups().filter(({ group }) => group !== '');
    return [
      '/api',
      '/api/v1',
      '/apis',
      '/apis/',
      ...groups.flatMap(({ group, versions }) => [`/apis/${group}`, ...versions.map((version) => `/apis/${group}/${version}`)]),
      '/healthz',
      '/livez',
      '/metrics',
      '/openapi/v2',
      '/openapi/v3',
      '/openid/v1/jwks',
      '/readyz',
      '/version',
    ];
  }
}
