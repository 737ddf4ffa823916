import { createClient, type Client } from '../../../src/client/client.ts';
import { createInMemoryTransport } from '../../../src/client/in-memory/in-memory-transport.ts';
import { builtInPlugins } from '../../../src/engine/apiserver/admission/built-in-plugins.ts';
import { createAdmission } from '../../../src/engine/apiserver/admission/chain.ts';
import { calculateUsage, trackedResources } from '../../../src/engine/apiserver/admission/quota/usage.ts';
import { bootstrapObjects, builtinResources } from '../../../src/engine/apiserver/builtin/index.ts';
import { ensureObjects, withResources } from '../../../src/engine/apiserver/bootstrap/system-objects.ts';
import { Aggregator } from '../../../src/engine/apiserver/aggregator/aggregator.ts';
import type { ProxyIdentity } from '../../../src/engine/apiserver/aggregator/backend.ts';
import { foreignServers } from '../../../src/engine/apiserver/aggregator/foreign-servers.ts';
import { inProcessHandler } from '../../../src/engine/apiserver/in-process.ts';
import { CustomDefinitions } from '../../../src/engine/apiserver/registry/custom-definitions.ts';
import { ApiServer, createFoundation } from '../../../src/engine/apiserver/server.ts';
import { startControllers } from '../../../src/engine/controllers/start-controllers.ts';
import { createMemoryStore } from '../../../src/engine/store/memory-store.ts';
import { realClock, type Clock } from '../../../src/lib/clock.ts';
import { createLog, type Log } from '../../../src/lib/log.ts';
import type { Authority } from '../../../src/lib/pki/certificate.ts';

export interface InMemoryEngine {
  client: Client;
  server: ApiServer;
  /** Lines that a log of level warn got. */
  warnings: string[];
  stop(): Promise<void>;
}

/** The real server with admission and all built-in controllers over the memory store, entered in process as an administrator. */
export async function startInMemoryEngine(
  options: { authority?: () => Authority; clock?: Clock; frontProxy?: ProxyIdentity } = {},
): Promise<InMemoryEngine> {
  const warnings: string[] = [];
  const log: Log = createLog({ level: 'warn', write: (line) => warnings.push(line) });
  const foundation = createFoundation(createMemoryStore(), builtinResources());
  const { objects, core } = foundation;
  const authorizer = {
    authorize: () => ({ allowed: true, reason: '' }),
    rulesFor: () => [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  };
  const plugins = builtInPlugins({
    writer: objects,
    authorizer,
    now: () => Date.now(),
    organizationsOf: () => [],
    onError: (error) => log.error('background', { error }),
  });
  const definitions = new CustomDefinitions({ core, objects, deleteAll: async () => {}, log });
  const { frontProxy, clock = realClock } = options;
  // Other servers behind this one are only there for tests that bring a certificate to show them.
  const aggregator = frontProxy && new Aggregator({ writer: objects, clock, identity: () => frontProxy });
  const server = new ApiServer({
    foundation,
    authenticate: () => undefined,
    impersonate: () => undefined,
    authorizer,
    admission: createAdmission({ plugins }),
    custom: () => definitions.published(),
    foreign: aggregator && foreignServers(aggregator),
    health: [],
    version: {},
    log,
  });
  definitions.start();
  aggregator?.start();
  await ensureObjects(
    objects,
    withResources(
      core.catalog,
      bootstrapObjects({ port: 443 }).filter(({ kind }) => kind === 'Namespace'),
    ),
  );
  const user = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };
  const client = createClient(createInMemoryTransport(inProcessHandler(server, user)));
  const controllers = startControllers({
    client,
    clock,
    log,
    rootCa: 'the CA',
    quota: { calculateUsage, trackedResources },
    authority: options.authority,
  });
  return {
    client,
    server,
    warnings,
    async stop() {
      await controllers.stop();
      await client.close();
      aggregator?.stop();
      server.close();
    },
  };
}
