import {
  GATEWAY_ACCESS_LABEL,
  GATEWAY_REPORTS_NAMESPACE,
  MANAGED_LABEL,
  PLATFORM_NAMESPACE,
  TOKEN_JWKS,
} from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { PluginInstallationKind, type PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { SUSPENDED_ANNOTATION, TENANT_LABEL } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import { ConfigMap, EndpointSlice, Namespace, Secret } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import type { Part } from '../installation/model/target.ts';
import type { PlacedPod } from './placed-connections.ts';
import type { Route } from '../rollout/model/routes.ts';

const SERVICE_NAME = 'kubernetes.io/service-name';
const WORKLOAD_PART: Part = 'workload';

/** Where a Pod of a plugin answers. */
export interface Endpoint {
  /** An address, or the name of a Pod in the cluster of its tenant. */
  host: string;
  port: number;
  placed?: PlacedPod;
}

/** Everything that the gateway has to know, in memory, as the API server last told it. */
export class RouteTable {
  readonly installations: Informer<PluginInstallation>;
  readonly jwks: Informer;
  /** How tenants' clusters are reached. */
  readonly access: Informer;
  readonly #slices: Informer;
  readonly #namespaces: Informer;
  readonly #waiting = new Set<() => void>();

  constructor(informers: SharedInformers) {
    this.installations = informers.get(PluginInstallationKind);
    this.installations.addIndex('plugin', ({ metadata, spec }) => [`${metadata.namespace}/${spec.plugin}`]);
    this.jwks = informers.get(ConfigMap, { namespace: PLATFORM_NAMESPACE, fieldSelector: `metadata.name=${TOKEN_JWKS}` });
    this.access = informers.get(Secret, { namespace: GATEWAY_REPORTS_NAMESPACE, labelSelector: GATEWAY_ACCESS_LABEL });
    // Slices have the labels of their Service: those of anybody else's are not even heard of.
    this.#slices = informers.get(EndpointSlice, { labelSelector: `${MANAGED_LABEL}=${WORKLOAD_PART}` }) as unknown as Informer;
    this.#slices.addIndex('service', ({ metadata }) => [`${metadata.namespace}/${metadata.labels?.[SERVICE_NAME] ?? ''}`]);
    this.#namespaces = informers.get(Namespace, { metadataOnly: true, labelSelector: TENANT_LABEL });
    for (const informer of [this.#slices, this.installations as unknown as Informer]) informer.onChange(() => this.#wake());
  }

  async whenSynced(): Promise<void> {
    const all = [this.installations, this.jwks, this.access, this.#slices, this.#namespaces];
    await Promise.all(all.map((informer) => informer.whenSynced()));
  }

  /** The one that has a place to run, where two claim the name. */
  find(tenant: string, plugin: string): PluginInstallation | undefined {
    const all = this.installations.byIndex('plugin', `${tenant}/${plugin}`);
    return all.find(({ status }) => status?.namespace !== undefined) ?? all[0];
  }

  /** By itself, or with its tenant. */
  isSuspended({ metadata, spec }: PluginInstallation): boolean {
    return spec.suspended === true || this.#namespaces.get(metadata.namespace!)?.metadata.annotations?.[SUSPENDED_ANNOTATION] !== undefined;
  }

  /** The Pods of a version that are ready. */
  endpoints({ metadata, status }: PluginInstallation, { workload }: Route): Endpoint[] {
    const { placement, namespace } = status ?? {};
    if (placement !== undefined) {
      const { port = 0, pods = [] } = placement.endpoints?.find((each) => each.workload === workload) ?? {};
      return pods.map((name) => ({ host: name, port, placed: { tenant: metadata.namespace!, namespace: namespace!, name } }));
    }
    return this.#slices.byIndex('service', `${status?.namespace}/${workload}`).flatMap(readyEndpoints);
  }

  /** Calls back once, with the next change of routes or endpoints. @returns how to stop waiting */
  onceChanged(callback: () => void): () => void {
    this.#waiting.add(callback);
    return () => void this.#waiting.delete(callback);
  }

  #wake(): void {
    const callbacks = [...this.#waiting];
    this.#waiting.clear();
    for (const callback of callbacks) callback();
  }
}

interface SliceEndpoint {
  addresses: string[];
  conditions?: { ready?: boolean };
}

function readyEndpoints(slice: KubeObject): Endpoint[] {
  const { endpoints = [], ports = [] } = slice as unknown as { endpoints?: SliceEndpoint[]; ports?: { port?: number }[] };
  const port = ports[0]?.port;
  if (port === undefined) return [];
  return endpoints.filter(({ conditions }) => conditions?.ready !== false).map(({ addresses }) => ({ host: addresses[0], port }));
}
