import type { Admission } from '../../../src/engine/apiserver/admission/chain.ts';
import { builtInPlugins } from '../../../src/engine/apiserver/admission/built-in-plugins.ts';
import { createAdmission } from '../../../src/engine/apiserver/admission/chain.ts';
import { builtinResources } from '../../../src/engine/apiserver/builtin/index.ts';
import { serviceTargets } from '../../../src/engine/apiserver/admission/webhook/service-targets.ts';
import { conversionWebhooks } from '../../../src/engine/apiserver/crd/conversion-webhook.ts';
import { definitionStrategy } from '../../../src/engine/apiserver/crd/definition-strategy.ts';
import { CustomDefinitions, DEFINITIONS } from '../../../src/engine/apiserver/registry/custom-definitions.ts';
import { ApiServer, createFoundation } from '../../../src/engine/apiserver/server.ts';
import { deleteAllObjects } from '../../../src/engine/apiserver/verbs/delete-collection.ts';
import { createMemoryStore } from '../../../src/engine/store/memory-store.ts';
import type { Store } from '../../../src/engine/store/store.ts';
import { inProcessHandler } from '../../../src/engine/apiserver/in-process.ts';
import type { Json } from '../../../src/kube/object.ts';
import { createLog } from '../../../src/lib/log.ts';

const ALLOWED = { allowed: true, reason: '' };
const USER = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };

export interface InMemoryServer {
  server: ApiServer;
  store: Store;
  /** Lines of the server's log from level warn on. */
  warnings: string[];
  call(
    method: string,
    path: string,
    body?: unknown,
    contentType?: string,
  ): Promise<{ status: number; headers: Record<string, string>; body: Json }>;
  watch(path: string, signal: AbortSignal): Promise<AsyncIterable<Json>>;
  close(): void;
}

/** The API server without controllers, authorization or a socket; `around` stands before and behind the admission of the kind it wants. */
export async function startServerInMemory(
  options: { store?: Store; around?: Partial<Pick<Admission, 'mutate' | 'validate'>>; namespaces?: string[] } = {},
): Promise<InMemoryServer> {
  const store = options.store ?? createMemoryStore();
  const warnings: string[] = [];
  const log = createLog({ level: 'warn', write: (line) => warnings.push(line) });
  const resources = builtinResources();
  const definition = resources.find(({ resource }) => resource === DEFINITIONS.resource)!;
  definition.strategy = definitionStrategy(definition.strategy);
  const foundation = createFoundation(store, resources);
  const { objects, core } = foundation;
  const authorizer = { authorize: () => ALLOWED, rulesFor: () => [] };
  const inner = createAdmission({
    plugins: builtInPlugins({
      writer: objects,
      authorizer,
      now: () => Date.now(),
      organizationsOf: () => [],
      onError: (error) => log.error('background', { error }),
    }),
  });
  const admission: Admission = {
    mutate: (request) => {
      const before = inner.mutate(request);
      const { mutate } = options.around ?? {};
      if (mutate === undefined) return before;
      return before instanceof Promise ? before.then(() => mutate(request)) : mutate(request);
    },
    validate: (request) => {
      const before = inner.validate(request);
      const { validate } = options.around ?? {};
      if (validate === undefined) return before;
      return before instanceof Promise ? before.then(() => validate(request)) : validate(request);
    },
    abandon: (request) => inner.abandon(request),
  };
  const definitions = new CustomDefinitions({
    core,
    objects,
    convert: conversionWebhooks(serviceTargets(objects)),
    deleteAll: (resource) => deleteAllObjects(server.core, resource),
    log,
  });
  const server: ApiServer = new ApiServer({
    foundation,
    authenticate: () => undefined,
    impersonate: () => undefined,
    authorizer,
    admission,
    custom: () => definitions.published(),
    health: [],
    version: {},
    log,
  });
  definitions.start();
  for (const name of options.namespaces ?? ['default']) {
    await objects.create(
      { group: '', resource: 'namespaces' },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name }, spec: { finalizers: ['kubernetes'] } },
    );
  }
  const handle = inProcessHandler(server, USER);
  const request = (method: string, url: string) => {
    const [path, query = ''] = url.split('?');
    return { method, path, query: Object.fromEntries(new URLSearchParams(query)) } as const;
  };
  return {
    server,
    store,
    warnings,
    async call(method, url, body, contentType = 'application/json') {
      const answer = await handle({ ...request(method, url), body, contentType } as never);
      return answer as never;
    },
    async watch(url, signal) {
      const answer = await handle({ ...request('GET', url), signal } as never);
      return (answer as { events: AsyncIterable<Json> }).events;
    },
    close: () => server.close(),
  };
}
