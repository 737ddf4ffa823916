import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Json } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { UserInfo } from '../auth/user.ts';
import type { ApiRequest } from '../chain/request.ts';
import type { ObjectWriter } from '../registry/objects.ts';
import { API_SERVICES, type RemoteApi } from './api-service.ts';
import { ApiTable } from './api-table.ts';
import { failedDiscovery, LOCAL, PASSED, serviceFinding, type AvailableCondition } from './availability.ts';
import { AvailabilityLoop } from './availability-loop.ts';
import { Backend, type ProxyIdentity } from './backend.ts';
import { fetchSpec, type ForeignSpec } from './foreign-openapi.ts';
import { inProcessAnswer, type InProcessAnswer } from './in-process-answer.ts';
import { builtInApiService, customApiService, registrations, type GroupVersion } from './local-api-services.ts';
import { probe } from './probe.ts';
import { proxy, type ProxiedRequest, type ProxiedResponse } from './proxy.ts';
import { endpointGroups, resolveService, type Address, type ServicePortReference } from './service-address.ts';
import type { Outbound } from '../outbound/outbound.ts';
import { proxyUpgrade } from './upgrade.ts';

export interface AggregatorOptions {
  writer: ObjectWriter;
  clock: Clock;
  /** The front-proxy client certificate. */
  identity: () => ProxyIdentity;
  /** Where a service leads; to one of its ready endpoints unless told otherwise. @throws when it leads nowhere. */
  resolve?: (service: ServicePortReference) => Address;
  /** How aggregated servers are reached; by their addresses unless told otherwise. */
  outbound?: Outbound;
  random?: () => number;
  onError?: (error: unknown) => void;
}

/** One version of a group that another server serves, for discovery. */
export interface ForeignVersion {
  group: string;
  version: string;
  resources: Json[];
  /** False while its server does not answer. */
  current: boolean;
}

export interface ForeignDocument {
  path: string;
  bytes: Uint8Array;
}

/** Other API servers behind this one: routing, their availability, and what they add to discovery and OpenAPI. */
export class Aggregator {
  readonly #options: AggregatorOptions;
  readonly #table: ApiTable;
  readonly #backend: Backend;
  readonly #loop: AvailabilityLoop;
  readonly #resources = new Map<string, Json[]>();
  readonly #specs = new Map<string, ForeignSpec>();
  #versions: readonly ForeignVersion[] | undefined;
  #generation = 0;

  constructor(options: AggregatorOptions) {
    const { writer, clock, identity, random = Math.random, onError = () => {} } = options;
    this.#options = options;
    this.#table = new ApiTable(writer);
    const resolve = options.resolve ?? ((service) => resolveService(writer, service, random));
    this.#backend = new Backend({ resolve, identity, outbound: options.outbound });
    this.#loop = new AvailabilityLoop({
      writer,
      clock,
      onError,
      check: (name) => this.#check(name),
      dependants: (namespace, service) =>
        this.#table
          .all()
          .filter((api) => api.service.namespace === namespace && api.service.name === service)
          .map((api) => api.name),
    });
    writer.onChange(API_SERVICES, ({ type, object }) => {
      if (type === 'DELETED' || !object.spec?.service) this.#forget(object.metadata.name!);
      this.#changed();
    });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): void {
    this.#loop.stop();
    this.#backend.close();
  }

  /** The server that answers this path; undefined when we do. */
  targetFor(path: string): RemoteApi | undefined {
    return this.#table.forPath(path);
  }

  /** For a request that is authenticated and authorized. */
  proxy(req: ProxiedRequest, res: ProxiedResponse, user: UserInfo, target: RemoteApi): Promise<void> {
    return proxy(this.#backend, req, res, user, target);
  }

  /** The same for a caller inside the process. */
  answer(request: ApiRequest, target: RemoteApi): Promise<InProcessAnswer> {
    return inProcessAnswer(this.#backend, request, request.user, target);
  }

  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer, user: UserInfo, target: RemoteApi): Promise<void> {
    return proxyUpgrade(this.#backend, req, socket, head, user, target);
  }

  /** Moves when foreign versions or documents change. */
  get generation(): number {
    return this.#generation;
  }

  /** The same array until something changes. Servers that never answered are there too, without resources. */
  foreignVersions(): readonly ForeignVersion[] {
    return (this.#versions ??= this.#table
      .all()
      .map((api) => ({ group: api.group, version: api.version, resources: this.#resources.get(api.name) ?? [], current: api.available })));
  }

  foreignDocuments(): readonly ForeignDocument[] {
    return this.#table.all().flatMap(({ name, group, version }) => {
      const v3 = this.#specs.get(name)?.v3;
      return v3 ? [{ path: `apis/${group}/${version}`, bytes: v3.bytes }] : [];
    });
  }

  /** What aggregated servers add to the OpenAPI v2 document. */
  foreignDefinitions(): { paths: Record<string, Json>; definitions: Record<string, Json> }[] {
    return this.#table.all().flatMap(({ name }) => this.#specs.get(name)?.v2 ?? []);
  }

  /** Makes the APIServices of what this server itself serves: built-in versions and those of CRDs. */
  async registerLocal(builtIn: readonly GroupVersion[], custom: readonly GroupVersion[]): Promise<void> {
    const { writer } = this.#options;
    const desired = [...builtIn.flatMap((gv) => builtInApiService(gv) ?? []), ...custom.map(customApiService)];
    const work = registrations(desired, writer.list(API_SERVICES)).map(async (registration) => {
      if ('remove' in registration) await writer.delete(API_SERVICES, '', registration.remove);
      else if ('create' in registration) await writer.create(API_SERVICES, registration.create);
      else {
        const { metadata, spec } = registration.update;
        await writer.update(API_SERVICES, '', metadata.name!, (draft) => {
          Object.assign((draft.metadata.labels ??= {}), metadata.labels);
          draft.spec = spec;
        });
      }
    });
    for (const outcome of await Promise.allSettled(work)) {
      // Somebody else was faster: what counts is that it is there, or gone.
      if (outcome.status === 'rejected' && !isStatusError(outcome.reason, 'AlreadyExists') && !isStatusError(outcome.reason, 'NotFound')) {
        throw outcome.reason;
      }
    }
  }

  async #check(name: string): Promise<AvailableCondition | undefined> {
    const { writer } = this.#options;
    const apiService = writer.get(API_SERVICES, '', name);
    if (!apiService) return undefined;
    const api = this.#table.get(name);
    if (!api) return LOCAL;
    const { namespace, name: service } = api.service;
    const found = serviceFinding(api, writer.get({ group: '', resource: 'services' }, namespace, service), () =>
      endpointGroups(writer, namespace, service),
    );
    if (found) return found;
    try {
      this.#setResources(name, await probe(this.#backend, api));
    } catch (error) {
      return failedDiscovery((error as Error).message);
    }
    void this.#refreshSpec(api);
    return PASSED;
  }

  /** In the background: what a server publishes is not needed for it to be available. */
  async #refreshSpec(api: RemoteApi): Promise<void> {
    const known = this.#specs.get(api.name);
    try {
      const spec = await fetchSpec(this.#backend, api, known);
      if (spec === known || !this.#table.get(api.name)) return;
      this.#specs.set(api.name, spec);
      this.#changed();
    } catch (error) {
      this.#options.onError?.(error);
    }
  }

  #setResources(name: string, resources: Json[]): void {
    const known = this.#resources.get(name);
    if (known && JSON.stringify(known) === JSON.stringify(resources)) return;
    this.#resources.set(name, resources);
    this.#changed();
  }

  #forget(name: string): void {
    this.#resources.delete(name);
    this.#specs.delete(name);
    this.#backend.forget(name);
    this.#backend.forget(`${name} probe`);
  }

  #changed(): void {
    this.#versions = undefined;
    this.#generation++;
  }
}
