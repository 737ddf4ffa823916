import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { parseArgs } from 'node:util';
import { BlobCache } from '../areas/clusters/access/services/blob-cache.ts';
import { isOfTheWorld } from '../areas/clusters/access/services/model/world-names.ts';
import { PullThrough } from '../areas/clusters/access/services/pull-through.ts';
import { DnsServer } from '../engine/node/network/dns/dns-server.ts';
import type { DnsServices } from '../engine/node/network/dns/answer-query.ts';
import { Upstream } from '../engine/node/network/dns/upstream.ts';
import { realClock } from '../lib/clock.ts';
import { decodeMessage, encodeMessage, RCODE } from '../lib/dns/message.ts';
import { createLog, errorText } from '../lib/log.ts';
import { proxySettings } from '../lib/oci/proxy-settings.ts';
import { SharedImages } from '../lib/oci/shared-images.ts';
import { SERVICE_PORTS, type ServeMessage, type ServedMessage } from './tenant-services-messages.ts';

/**
 * What the platform does for workers: names of the world and images, for each tenant at an address that only its workers reach. A process of its own, so that a
 * tenant that asks a lot keeps nobody from the API server.
 */
const MAX_CACHE_BYTES = 20 * 1024 ** 3;

const { values: flags } = parseArgs({ options: { cache: { type: 'string' }, shared: { type: 'string' } } });
const log = createLog({ level: 'warn', format: 'json', write: (line) => process.stderr.write(line) });
const cache = new BlobCache(flags.cache!, MAX_CACHE_BYTES);
await cache.open();
const shared = new SharedImages(flags.shared!);
let images: PullThrough | undefined;

/** Nothing of a cluster is answered here: each has names of its own. */
const NO_RECORDS: DnsServices['records'] = {
  service: () => undefined,
  hasServices: () => false,
  slices: () => [],
  servicesAt: () => [],
  slicesWith: () => [],
  hasPod: () => false,
};

interface Served {
  names: DnsServer;
  images: Server;
}

const served = new Map<string, Served>();

async function open(address: string): Promise<void> {
  const upstream = new Upstream({ clock: realClock });
  const names = new DnsServer(
    {
      domain: 'cluster.local',
      records: NO_RECORDS,
      upstream: (query, transport) => {
        const message = decodeMessage(query);
        if (message.questions.every(({ name }) => isOfTheWorld(name))) return upstream.ask(query, transport);
        return Promise.resolve(encodeMessage({ ...message, response: true, recursionAvailable: true, rcode: RCODE.NXDOMAIN }));
      },
      now: () => Date.now(),
    },
    log,
  );
  const server = createServer((request, response) => void images!.handle(request, response));
  served.set(address, { names, images: server });
  await names.start(undefined, { address, port: SERVICE_PORTS.names });
  server.listen(SERVICE_PORTS.images, address);
  await once(server, 'listening');
}

function close(address: string): void {
  const { names, images: server } = served.get(address)!;
  served.delete(address);
  names.stop();
  server.close();
  server.closeAllConnections();
}

async function serve(addresses: readonly string[]): Promise<ServedMessage> {
  for (const address of served.keys()) if (!addresses.includes(address)) close(address);
  const failed: [string, string][] = [];
  for (const address of addresses) {
    if (served.has(address)) continue;
    try {
      await open(address);
    } catch (error) {
      close(address);
      failed.push([address, errorText(error)]);
    }
  }
  return { type: 'served', failed };
}

let turn: Promise<unknown> = Promise.resolve();
process.on('message', ({ addresses, registries }: ServeMessage) => {
  images ??= new PullThrough({ registries, cache, shared, proxy: proxySettings(process.env), clock: realClock, log });
  turn = turn.then(async () => process.send?.(await serve(addresses)));
});
process.on('disconnect', () => process.exit(0));
