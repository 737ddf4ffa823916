import type { KubeObject } from '../../../kube/object.ts';
import { certificateCredentials } from '../../../client/config/credentials.ts';
import { createClient, type Client } from '../../../client/client.ts';
import { createHttpTransport } from '../../../client/http/http-transport.ts';
import { Namespace } from '../../../client/kinds.ts';
import { silentLog } from '../../../lib/log.ts';
import { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { TenantBalancers } from '../access/load-balancer/tenant-balancers.ts';
import type { RunningControlPlane } from '../control-plane/control-planes.ts';
import { AppliedObjects } from './applied-objects.ts';
import { TenantWorkers, type TenantWorkersOptions } from '../workers/tenant-workers.ts';

/** One that does not answer must not keep those waiting who look after all clusters: they come again. */
const PATIENCE_MS = 20_000;

/** How we are inside a tenant's cluster: with all rights, to put there what belongs there and to see when it goes. */
export class TenantConnection {
  readonly tenantClient: Client;
  readonly #informers: SharedInformers;
  readonly #applied: AppliedObjects;
  readonly #onChange: () => void;
  #platform: RunningControlPlane['platform'];
  #followsNamespaces = false;
  #balancers: TenantBalancers | undefined;
  #workers: TenantWorkers | undefined;
  #stopped = false;

  constructor(running: RunningControlPlane, onChange: () => void) {
    this.#platform = running.platform;
    this.#onChange = onChange;
    const transport = createHttpTransport({
      endpoint: { url: new URL(running.endpoint) },
      ca: () => Promise.resolve(running.authorityPem),
      credentials: certificateCredentials(() => Promise.resolve({ cert: this.#platform.certificatePem, key: this.#platform.keyPem })),
    });
    this.tenantClient = createClient(transport, { timeoutMs: PATIENCE_MS, retry: { maxRetries: 1 } });
    // It comes and goes with the cluster: what it has to say about that is said by the cluster's conditions.
    this.#informers = new SharedInformers({ client: this.tenantClient, log: silentLog, patienceMs: PATIENCE_MS });
    this.#applied = new AppliedObjects({ tenantClient: this.tenantClient, informers: this.#informers, wake: () => this.#wake() });
  }

  /** Certificates that were renewed are taken up with the next connection. */
  update({ platform }: RunningControlPlane): void {
    this.#platform = platform;
  }

  /** Namespaces that are there and stay. */
  async namespaces(): Promise<string[]> {
    const informer = this.#informers.get(Namespace, { metadataOnly: true });
    if (!this.#followsNamespaces) informer.onChange(() => this.#wake());
    this.#followsNamespaces = true;
    await informer.whenSynced();
    const there = [...informer.list()].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return there.map(({ metadata }) => metadata.name!);
  }

  /** As `AppliedObjects.apply`. */
  apply(manifest: KubeObject): Promise<boolean> {
    return this.#applied.apply(manifest);
  }

  /** Its Services of the type LoadBalancer; a change of them is told. */
  balancers(): TenantBalancers {
    const wake = () => this.#wake();
    return (this.#balancers ??= new TenantBalancers({ tenantClient: this.tenantClient, informers: this.#informers, wake }));
  }

  /** Its workers, as they are inside; a change of them is told. */
  workers(options: Pick<TenantWorkersOptions, 'cluster' | 'workers' | 'clock' | 'log'>): TenantWorkers {
    const wake = () => this.#wake();
    return (this.#workers ??= new TenantWorkers({ ...options, tenantClient: this.tenantClient, informers: this.#informers, wake }));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([this.#informers.stop(), this.tenantClient.close()]);
  }

  #wake(): void {
    if (!this.#stopped) this.#onChange();
  }
}
