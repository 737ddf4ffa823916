import { vi } from 'vitest';
import { SubnamespaceAnchorKind } from '../../../src/api/hnc.x-k8s.io/v1alpha2/subnamespace-anchor.ts';
import { TenantKind, type Tenant } from '../../../src/api/tenantry.dev/v1alpha1/tenant.ts';
import { createClient, type Client } from '../../../src/client/client.ts';
import { connectContext } from '../../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../../src/client/config/kubeconfig.ts';
import { CustomResourceDefinition, Deployment, Namespace, Node, Pod, ServiceAccount } from '../../../src/client/kinds.ts';
import { isConditionTrue } from '../../../src/kube/conditions.ts';
import type { Kind } from '../../../src/kube/kind.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { isStatusError } from '../../../src/kube/status.ts';
import type { ApiTarget } from '../../support/api-target.ts';

const BEAT_EVERY_MS = 5_000;

/** A server with our areas, seen by an administrator and by whomever he acts as. */
export class TenantWorld {
  readonly client: Client;
  readonly #target: ApiTarget;
  readonly #clients: Client[] = [];
  readonly #nodes: string[] = [];

  private constructor(target: ApiTarget, client: Client) {
    this.#target = target;
    this.client = client;
  }

  static async over(target: ApiTarget): Promise<TenantWorld> {
    const context = resolveContext(await loadKubeconfig({ path: target.kubeconfig }));
    return new TenantWorld(target, createClient(await connectContext(context)));
  }

  /** The same API, as somebody else. */
  async as(user: string): Promise<Client> {
    const context = resolveContext(await loadKubeconfig({ path: this.#target.kubeconfig }));
    const client = createClient(await connectContext(context), { headers: { 'Impersonate-User': user } });
    this.#clients.push(client);
    return client;
  }

  /** The same API, with a token of a service account and nothing else. */
  async withTokenOf(namespace: string, name: string): Promise<Client> {
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: { expirationSeconds: 3600 } };
    const { status } = (await this.client.resource(ServiceAccount, namespace).subresource('token').create(name, request)) as KubeObject;
    const context = resolveContext(await loadKubeconfig({ path: this.#target.kubeconfig }));
    const client = createClient(await connectContext({ ...context, user: { token: status.token } }));
    this.#clients.push(client);
    return client;
  }

  async tenant(name: string, spec: Tenant['spec'] = {}): Promise<Tenant> {
    // The first question loads the rules, which on a busy machine may take longer than a webhook is waited for.
    await this.eventually(() =>
      this.client
        .resource(TenantKind)
        .create({ metadata: { name }, spec })
        .catch((error: unknown) => {
          if (!isStatusError(error, 'InternalError')) throw error;
          return undefined;
        }),
    );
    await this.#account(name);
    return this.ready(name);
  }

  patch(name: string, spec: object): Promise<Tenant> {
    return this.client.resource(TenantKind).patch(name, { type: 'merge', patch: { spec } });
  }

  get(name: string): Promise<Tenant> {
    return this.client.resource(TenantKind).get(name);
  }

  /** The Tenant once it is ready for what its spec says now. */
  ready(name: string): Promise<Tenant> {
    return this.until(
      name,
      ({ metadata, status }) => status?.observedGeneration === metadata.generation && isConditionTrue(status?.conditions, 'Ready'),
    );
  }

  async until(name: string, wanted: (tenant: Tenant) => boolean): Promise<Tenant> {
    let last: Tenant | undefined;
    try {
      return await this.eventually(async () => {
        last = await this.get(name);
        return wanted(last) ? last : undefined;
      });
    } catch (error) {
      throw new Error(`Tenant "${name}" did not become as wanted: ${JSON.stringify(last?.status)}`, { cause: error });
    }
  }

  eventually<T>(met: () => Promise<T | undefined | false>): Promise<T> {
    return vi.waitUntil(met, { timeout: 45_000, interval: 25 });
  }

  /** A kind that this cluster does not have otherwise, with any fields. */
  async definition({ group, version, kind, plural, namespaced }: Kind): Promise<void> {
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const names = { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` };
    const versions = [{ name: version, served: true, storage: true, schema }];
    const spec = { group, scope: namespaced ? 'Namespaced' : 'Cluster', names, versions };
    await this.client.resource(CustomResourceDefinition).create({ metadata: { name: `${plural}.${group}` }, spec });
    const path = `/apis/${group}/${version}/${plural}`;
    await this.eventually(() => this.find(() => this.client.request({ method: 'GET', path })));
  }

  /** A namespace below another, by its anchor. */
  async namespace(parent: string, name: string, client = this.client): Promise<void> {
    // Kubernetes counts the objects of a new kind from its next look at discovery on, and lets nobody make any before.
    await this.eventually(async () => {
      try {
        return await client.resource(SubnamespaceAnchorKind, parent).create({ metadata: { name } });
      } catch (error) {
        if (isStatusError(error) && error.message.includes('status unknown for quota')) return undefined;
        throw error;
      }
    });
    await this.eventually(
      async () => (await this.find(() => this.client.resource(Namespace).get(name)))?.metadata.labels?.['tenantry.dev/tenant'],
    );
    await this.#account(name);
  }

  /** Without it no Pod can be made. */
  async #account(namespace: string): Promise<void> {
    await this.eventually(() => this.find(() => this.client.resource(ServiceAccount, namespace).get('default')));
  }

  async find<T>(get: () => Promise<T>): Promise<T | undefined> {
    try {
      return await get();
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  async node(name: string, labels: Record<string, string> = {}): Promise<void> {
    await this.client.resource(Node).create({ metadata: { name, labels } });
    await this.#beat(name);
    await this.client.resource(Node).patch(name, { type: 'merge', patch: { spec: { taints: null } } });
    this.#nodes.push(name);
  }

  /** A node that says nothing for most of a minute is taken for dead, and a busy machine needs longer than that for some tests. */
  async #beat(node: string): Promise<void> {
    const capacity = { cpu: '4', memory: '8Gi', pods: '50' };
    const conditions = [{ type: 'Ready', status: 'True', reason: 'Test', message: '', lastHeartbeatTime: new Date().toISOString() }];
    const status = { capacity, allocatable: capacity, conditions, addresses: [{ type: 'InternalIP', address: '10.1.2.3' }] };
    await this.client.resource(Node).status.patch(node, { type: 'merge', patch: { status } });
  }

  deployment(namespace: string, name: string, replicas: number, client = this.client): Promise<KubeObject> {
    const labels = { app: name };
    const template = {
      metadata: { labels },
      spec: { containers: [{ name: 'main', image: 'example/app' }], terminationGracePeriodSeconds: 0 },
    };
    return client
      .resource(Deployment, namespace)
      .create({ metadata: { name }, spec: { replicas, selector: { matchLabels: labels }, template } });
  }

  async pods(namespace: string): Promise<KubeObject[]> {
    return (await this.client.resource(Pod, namespace).list()).items;
  }

  /** Plays the kubelet: Pods that were given a node become ready, those that go are gone. */
  playKubelet(namespaces: string[]): () => Promise<void> {
    const stop = new AbortController();
    const play = async (): Promise<void> => {
      let beatenAt = 0;
      while (!stop.signal.aborted) {
        if (Date.now() - beatenAt > BEAT_EVERY_MS) {
          beatenAt = Date.now();
          for (const node of this.#nodes) await this.#beat(node).catch(() => {});
        }
        for (const namespace of namespaces) for (const pod of await this.pods(namespace)) await this.#play(pod).catch(() => {});
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    const playing = play();
    return () => {
      stop.abort();
      return playing;
    };
  }

  async #play({ metadata: { namespace, name, deletionTimestamp }, spec, status }: KubeObject): Promise<void> {
    const pods = this.client.resource(Pod, namespace);
    if (deletionTimestamp) await pods.delete(name!, { gracePeriodSeconds: 0 });
    else if (spec.nodeName && !isConditionTrue(status?.conditions, 'Ready')) {
      const conditions = [{ type: 'Ready', status: 'True' }];
      await pods.status.patch(name!, { type: 'strategic', patch: { status: { phase: 'Running', conditions } } });
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.client.close();
    await this.#target.close();
  }
}
