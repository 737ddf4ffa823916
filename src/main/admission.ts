import { isIP } from 'node:net';
import { admissionRights } from '../areas/tenancy/tenancy-rights.ts';
import type { KubeObject } from '../kube/object.ts';
import { aborted, longLivedController } from '../lib/abort.ts';
import { realClock } from '../lib/clock.ts';
import { createLog, type LogLevel } from '../lib/log.ts';
import { MetricsRegistry } from '../lib/metrics.ts';
import { outliveReader } from '../lib/outlive-reader.ts';
import { ADMISSION_SERVICE, type WebhookAddress } from '../runtime/admission/webhook-rules.ts';
import type { AdmissionHandler } from '../runtime/admission/review.ts';
import { startWebhookServer, type WebhookServerOptions } from '../runtime/admission/webhook-server.ts';
import { ADMISSION_AREAS, type AdmissionArea } from './admission-areas.ts';
import { AdmissionCertificate } from './admission-certificate.ts';
import { definitionsForKubernetes, installObjects } from './areas.ts';
import { addressOf, areasOf, connectAs, listenAddress, reach, serveHealth, type State } from './on-kubernetes.ts';
import { productVersion } from './product-version.ts';

export interface AdmissionOptions {
  kubeconfig?: string;
  context?: string;
  namespace?: string;
  /** Names with commas between them; absent: all. */
  area?: string;
  install: boolean;
  listen: string;
  /** Where the API server reaches it, when not by the Service. */
  url?: string;
  bindAddress: string;
  logLevel: LogLevel;
  logFormat: 'pretty' | 'json';
}

/**
 * `tenantry admission`: answers the API server of a user's Kubernetes for areas. Apart from the controllers, so that it goes on while
 * they restart; run two or more of it.
 */
export async function admission(options: AdmissionOptions): Promise<void> {
  const log = createLog({ level: options.logLevel, format: options.logFormat });
  const names = areasOf(options.area, Object.keys(ADMISSION_AREAS));
  const areas = names.map((name) => ADMISSION_AREAS[name]);
  const { client, clientAs, namespace, server } = await connectAs('tenantry-admission', ADMISSION_SERVICE.namespace, options);
  const metrics = new MetricsRegistry();
  const states = new Map<string, State>([['admission', 'starting']]);
  const stop = longLivedController();
  // A second signal does not wait.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => (stop.signal.aborted ? process.exit(1) : stop.abort()));
  const health = await serveHealth(options.bindAddress, metrics, states);
  try {
    const version = await reach(client, server);
    if (options.install) {
      await installObjects(client, definitionsForKubernetes(areas.flatMap(({ groups }) => groups)));
      await installObjects(client, admissionRights(namespace));
    }
    const certificate = new AdmissionCertificate(
      client,
      realClock,
      { namespace, name: 'tenantry-admission' },
      hostsOf(namespace, options.url),
    );
    const own = await clientAs({ namespace, name: 'tenantry-admission' });
    const { host, port } = listenAddress(options.listen, 9443);
    const opened = await Promise.all(areas.map((area) => area.open({ client: own, clock: realClock, log, metrics })));
    let registered: string | undefined;
    const register = async (authority: string) => {
      if (authority === registered) return;
      await installObjects(client, await webhooksOf(areas, { authority, url: options.url }));
      registered = authority;
    };
    const webhooks = await startWebhookServer({
      handlers: Object.assign({}, ...opened.map(({ handlers }) => handlers)) as Record<string, AdmissionHandler>,
      documents: Object.assign({}, ...opened.map(({ documents }) => documents)) as WebhookServerOptions['documents'],
      async certificate() {
        const pair = await certificate.read();
        // A new authority (the Secret was lost) is told to the API server before the first certificate of it is served.
        if (registered !== undefined) await register(pair.authority);
        return pair;
      },
      host,
      port,
      clock: realClock,
      log,
    });
    await register((await certificate.read()).authority);
    states.set('admission', 'leading');
    outliveReader(process.stdout);
    process.stdout.write(
      `Tenantry ${productVersion()} answers for ${names.join(', ')} on Kubernetes ${version} at ${server}, port ${webhooks.port}; ${addressOf(health)}\n`,
    );
    await aborted(stop.signal);
    states.set('admission', 'stopping');
    await webhooks.stop();
    await Promise.all(opened.map((area) => area.stop()));
  } finally {
    health.closeAllConnections();
    health.close();
    await client.close();
  }
}

async function webhooksOf(areas: AdmissionArea[], address: WebhookAddress): Promise<KubeObject[]> {
  return (await Promise.all(areas.map((area) => area.webhooks(address)))).flat();
}

/** The names that the API server may know it by. */
function hostsOf(namespace: string, url: string | undefined): { dnsNames: string[]; addresses: string[] } {
  const { name } = ADMISSION_SERVICE;
  const dnsNames = [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`];
  if (url === undefined) return { dnsNames, addresses: [] };
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return isIP(host) ? { dnsNames, addresses: [host] } : { dnsNames: [...dnsNames, host], addresses: [] };
}
