import type { Client } from '../../../client/client.ts';
import { Quantity } from '../../../kube/quantity.ts';
import { qualifiedResource, type Json } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { timeoutSignal } from '../../../lib/abort.ts';
import { clientText, messageOf } from './client-text.ts';
import { parseSignedGoDuration } from '../../../kube/go-duration.ts';
import type { PodMetrics } from './model/usage.ts';
import type { ScaleTargets } from './scale-target.ts';

/** For one answer of a metrics API. A server that hangs must not hold the autoscalers of others. */
const TIMEOUT_MS = 10_000;
const DEFAULT_WINDOW_MS = 60_000;
const CUSTOM = 'custom.metrics.k8s.io';
const CUSTOM_VERSIONS = ['v1beta2', 'v1beta1'];

export interface ObjectReference {
  apiVersion?: string;
  kind: string;
  name: string;
}

/** Reads the three metrics APIs. All methods throw Errors in the words of kube-controller-manager. Amounts are in thousandths. */
export class MetricsReader {
  readonly #client: Client;
  readonly #targets: ScaleTargets;

  constructor(client: Client, targets: ScaleTargets) {
    this.#client = client;
    this.#targets = targets;
  }

  /** What Pods use of a resource: all their containers together, or one of them. Pods of which that is not known are left out. */
  async resource(namespace: string, selector: string, resource: string, container: string): Promise<PodMetrics> {
    const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods`;
    const items = await this.#list('resource', path, { labelSelector: selector }, 'get pods.metrics.k8s.io');
    const metrics: PodMetrics = new Map();
    for (const item of items) {
      const value = container === '' ? podUsage(item, resource) : containerUsage(item, resource, container);
      if (value === undefined) continue;
      metrics.set(item.metadata.name, {
        value,
        atMs: Date.parse(item.timestamp),
        windowMs: parseSignedGoDuration(item.window ?? '0s') ?? 0,
      });
    }
    return metrics;
  }

  /** A custom metric of Pods. */
  async pods(namespace: string, selector: string, metric: string, metricSelector: string): Promise<PodMetrics> {
    const version = await this.#customVersion();
    const path = `/apis/${CUSTOM}/${version}/namespaces/${namespace}/pods/*/${encodeURIComponent(metric)}`;
    const query = { labelSelector: selector, metricLabelSelector: metricSelector };
    const items = await this.#list('custom', path, query, `get pods.${CUSTOM} *`);
    return new Map(
      items.map((item) => {
        const windowSeconds = item.windowSeconds ?? item.window;
        const windowMs = windowSeconds === undefined ? DEFAULT_WINDOW_MS : windowSeconds * 1000;
        return [item.describedObject.name, { value: milli(item.value), atMs: Date.parse(item.timestamp), windowMs }];
      }),
    );
  }

  /** A custom metric of one object in the namespace, or of the namespace itself. */
  async object(namespace: string, reference: ObjectReference, metric: string, metricSelector: string): Promise<number> {
    const version = await this.#customVersion();
    const [subject, name] = await this.#subjectOf(namespace, reference);
    const path = `/apis/${CUSTOM}/${version}/namespaces/${namespace}${subject}/${encodeURIComponent(metric)}`;
    const items = await this.#items('custom', path, { metricLabelSelector: metricSelector }, name);
    if (items.length !== 1) {
      throw unable('custom', `the custom metrics API server returned ${items.length} results when we asked for exactly one`);
    }
    return milli(items[0].value);
  }

  /** Every series of an external metric. */
  async external(namespace: string, metric: string, metricSelector: string): Promise<number[]> {
    const path = `/apis/external.metrics.k8s.io/v1beta1/namespaces/${namespace}/${encodeURIComponent(metric)}`;
    const items = await this.#list('external', path, { labelSelector: metricSelector }, `get ${metric}.external.metrics.k8s.io`);
    return items.map((item) => milli(item.value));
  }

  /** The path below the namespace, and how client-go names the request. */
  async #subjectOf(namespace: string, { apiVersion = '', kind, name }: ObjectReference): Promise<[string, string]> {
    const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
    if (kind === 'Namespace' && group === '') return ['/metrics', `get metrics.${CUSTOM} ${namespace}`];
    let resource;
    try {
      resource = await this.#targets.find(group, kind);
    } catch (error) {
      const groupKind = group === '' ? kind : `${kind}.${group}`;
      throw unable('custom', `unable to map kind ${groupKind} to resource: ${messageOf(error)}`);
    }
    const qualified = qualifiedResource({ group, resource: resource.plural });
    return [`/${qualified}/${encodeURIComponent(name)}`, `get ${qualified}.${CUSTOM} ${name}`];
  }

  async #customVersion(): Promise<string> {
    let group: Json;
    try {
      group = await this.#client.request<Json>({ method: 'GET', path: `/apis/${CUSTOM}`, once: true });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw unable('custom', clientText(error, 'get groups'));
    }
    if (group === undefined) throw unable('custom', `no custom metrics API (${CUSTOM}) registered`);
    const versions: string[] = [group.preferredVersion, ...(group.versions ?? [])].map((one) => one?.version);
    const known = versions.find((version) => CUSTOM_VERSIONS.includes(version));
    if (known === undefined) throw unable('custom', 'no known available metric versions found');
    return known;
  }

  async #list(api: string, path: string, query: Record<string, string>, request: string): Promise<Json[]> {
    const items = await this.#items(api, path, query, request);
    if (items.length === 0) throw new Error(`no metrics returned from ${api} metrics API`);
    return items;
  }

  async #items(api: string, path: string, query: Record<string, string>, request: string): Promise<Json[]> {
    const timeout = timeoutSignal(this.#client.clock, TIMEOUT_MS);
    try {
      const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));
      // Tried again at the next turn of the autoscaler, not before.
      const list = await this.#client.request<Json>({ method: 'GET', path, query: given, once: true, signal: timeout.signal });
      return list?.items ?? [];
    } catch (error) {
      throw unable(api, clientText(error, request));
    } finally {
      timeout.dispose();
    }
  }
}

function unable(api: string, why: string): Error {
  return new Error(`unable to fetch metrics from ${api} metrics API: ${why}`);
}

function milli(amount: string | number): number {
  return Quantity.parse(amount).milliValue();
}

function podUsage(item: Json, resource: string): number | undefined {
  const containers: Json[] = item.containers ?? [];
  if (containers.length === 0 || containers.some(({ usage }) => usage?.[resource] === undefined)) return undefined;
  return containers.reduce((sum, { usage }) => sum + milli(usage[resource]), 0);
}

function containerUsage(item: Json, resource: string, name: string): number | undefined {
  const usage = (item.containers ?? []).find((container: Json) => container.name === name)?.usage?.[resource];
  return usage === undefined ? undefined : milli(usage);
}
