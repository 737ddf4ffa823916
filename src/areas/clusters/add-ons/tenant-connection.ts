import { createHash } from 'node:crypto';
import type { KubeObject } from '../../../kube/object.ts';
import { apiVersionOf, type Kind } from '../../../kube/kind.ts';
import { isStatusError } from '../../../kube/status.ts';
import { certificateCredentials } from '../../../client/config/credentials.ts';
import { createClient, type Client } from '../../../client/client.ts';
import { createHttpTransport } from '../../../client/http/http-transport.ts';
import { ClusterRoleBinding, LimitRange, Namespace, NetworkPolicy } from '../../../client/kinds.ts';
import { ADD_ON_HASH, ADD_ON_LABEL } from '../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import { silentLog } from '../../../lib/log.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { TenantBalancers } from '../access/load-balancer/tenant-balancers.ts';
import type { RunningControlPlane } from '../control-plane/control-planes.ts';
import { contains } from './contains.ts';
import { TenantWorkers, type TenantWorkersOptions } from '../workers/tenant-workers.ts';

const FIELD_MANAGER = 'tenantry';
/** One that does not answer must not keep those waiting who look after all clusters: they come again. */
const PATIENCE_MS = 20_000;
const KNOWN = [ClusterRoleBinding, LimitRange, NetworkPolicy] as unknown as Kind[];

/** How we are inside a tenant's cluster: with all rights, to put there what belongs there and to see when it goes. */
export class TenantConnection {
  readonly tenantClient: Client;
  readonly #informers: SharedInformers;
  /** By apiVersion and kind; those that are asked for at every start need no question. */
  readonly #kinds = new Map<string, Kind>(KNOWN.map((kind) => [`${apiVersionOf(kind)}/${kind.kind}`, kind]));
  readonly #watched = new Set<string>();
  /** What was applied, and what became of it: as long as that is there nothing has to be written. */
  readonly #applied = new Map<string, { wanted: string; resourceVersion: string | undefined }>();
  readonly #onChange: () => void;
  #platform: RunningControlPlane['platform'];
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
  }

  /** Certificates that were renewed are taken up with the next connection. */
  update({ platform }: RunningControlPlane): void {
    this.#platform = platform;
  }

  /** Namespaces that are there and stay. */
  async namespaces(): Promise<string[]> {
    const informer = this.#watch(Namespace, { metadataOnly: true });
    await informer.whenSynced();
    return [...informer.list()].filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ metadata }) => metadata.name!);
  }

  /** Server-side apply; from then on a change of it, or its end, is told. @returns whether it had to be written */
  async apply(manifest: KubeObject): Promise<boolean> {
    const kind = await this.#kindOf(manifest);
    const informer = this.#watch(kind, { labelSelector: ADD_ON_LABEL });
    await informer.whenSynced();
    const id = idOf(kind, manifest);
    const wanted = JSON.stringify(manifest);
    const before = this.#applied.get(id);
    const existing = informer.get(keyOf(manifest));
    const isUntouched = before !== undefined && existing?.metadata.resourceVersion === before.resourceVersion;
    if (isUntouched && before.wanted === wanted) return false;
    const object = withHash(manifest, wanted);
    // Written before we were started: the hash says what was wanted then, and the rest that nobody has changed it since.
    const isWritten = before === undefined && existing !== undefined && contains(existing, object);
    const { metadata } = isWritten ? existing : await this.#write(kind, object);
    this.#applied.set(id, { wanted, resourceVersion: metadata.resourceVersion });
    return !isWritten;
  }

  /** Its Services of the type LoadBalancer; a change of them is told. */
  balancers(): TenantBalancers {
    const wake = (): void => void (this.#stopped || this.#onChange());
    return (this.#balancers ??= new TenantBalancers({ tenantClient: this.tenantClient, informers: this.#informers, wake }));
  }

  /** Its workers, as they are inside; a change of them is told. */
  workers(options: Pick<TenantWorkersOptions, 'cluster' | 'workers' | 'clock' | 'log'>): TenantWorkers {
    const wake = (): void => void (this.#stopped || this.#onChange());
    return (this.#workers ??= new TenantWorkers({ ...options, tenantClient: this.tenantClient, informers: this.#informers, wake }));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([this.#informers.stop(), this.tenantClient.close()]);
  }

  async #write(kind: Kind, object: KubeObject): Promise<KubeObject> {
    const resource = this.tenantClient.resource(kind, object.metadata.namespace);
    try {
      return await resource.apply(object, { fieldManager: FIELD_MANAGER, force: true });
    } catch (error) {
      // Somebody put another in its place, with what cannot be changed, such as the role of a binding.
      if (!isStatusError(error, 'Invalid')) throw error;
      await resource.delete(object.metadata.name!).catch(() => {});
      return resource.apply(object, { fieldManager: FIELD_MANAGER, force: true });
    }
  }

  #watch(kind: Kind, selection: { labelSelector?: string; metadataOnly?: boolean }) {
    const informer = this.#informers.get(kind, selection);
    const id = `${kind.group}/${kind.plural}`;
    if (!this.#watched.has(id)) {
      this.#watched.add(id);
      informer.onChange(({ type, object }) => {
        // Namespaces come and go as their administrators like, and what was in them with them.
        if (type === 'deleted') this.#applied.delete(idOf(kind, object));
        if (!this.#stopped) this.#onChange();
      });
    }
    return informer;
  }

  async #kindOf({ apiVersion, kind }: KubeObject): Promise<Kind> {
    const id = `${apiVersion}/${kind}`;
    const known = this.#kinds.get(id);
    if (known) return known;
    const found = await this.tenantClient.discovery.forKind(apiVersion, kind);
    if (found === undefined) throw new Error(`the cluster knows no ${kind} of ${apiVersion}`);
    this.#kinds.set(id, found);
    return found;
  }
}

function withHash({ metadata, ...rest }: KubeObject, text: string): KubeObject {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return { ...rest, metadata: { ...metadata, annotations: { ...metadata.annotations, [ADD_ON_HASH]: hash } } };
}

function idOf({ plural, group }: Kind, object: KubeObject): string {
  return `${plural}.${group}/${keyOf(object)}`;
}
