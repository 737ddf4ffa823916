import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Client } from '../../../src/client/client.ts';
import { APIService, Namespace, Service } from '../../../src/client/kinds.ts';
import { SERVER_CERTIFICATE, SERVER_KEY } from '../../../src/engine/apiserver/admission/testing/certificates.ts';
import type { Json, KubeObject } from '../../../src/kube/object.ts';
import { formatTime } from '../../../src/kube/time.ts';

const GROUPS: [group: string, version: string][] = [
  ['metrics.k8s.io', 'v1beta1'],
  ['custom.metrics.k8s.io', 'v1beta2'],
  ['external.metrics.k8s.io', 'v1beta1'],
];

/** Three metrics APIs, served from the process of the test. What they say is what the test put there. */
export interface MetricsApis {
  /** Usage of Pods by `namespace/name`, per container. */
  usage: Map<string, Record<string, Record<string, string>>>;
  /** Custom metrics by `namespace/resource/name/metric`; all Pods of a namespace are asked for as `*`. */
  custom: Map<string, string>;
  /** The series of an external metric by `namespace/metric`. */
  external: Map<string, string[]>;
  port: number;
  /** Who asked for what. */
  seen: { user: string; url: string }[];
  /** Makes an API server pass requests on to here, and waits until it does. */
  register(client: Client, groups?: string[]): Promise<void>;
  close(): Promise<void>;
}

export async function startMetricsApis(): Promise<MetricsApis> {
  const state = { usage: new Map<string, Record<string, Record<string, string>>>(), custom: new Map<string, string>() };
  const external = new Map<string, string[]>();
  const seen: MetricsApis['seen'] = [];
  const server = createServer({ cert: SERVER_CERTIFICATE, key: SERVER_KEY }, (request, response) => {
    const url = new URL(request.url!, 'https://metrics');
    seen.push({ user: String(request.headers['x-remote-user'] ?? ''), url: request.url! });
    const answer = answerTo(url, { ...state, external });
    if (answer === undefined) return notFound(response, url.pathname);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    ...state,
    external,
    port,
    seen,
    register: (client, groups) => register(client, port, groups ?? GROUPS.map(([group]) => group)),
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}

type Values = Pick<MetricsApis, 'usage' | 'custom' | 'external'>;

function answerTo({ pathname, searchParams }: URL, values: Values): Json {
  const [, , group, version, , namespace, resource, name, metric] = pathname.split('/').map(decodeURIComponent);
  if (!GROUPS.some(([known, served]) => known === group && served === version)) return undefined;
  if (namespace === undefined) return resourceList(group, version);
  const timestamp = formatTime(new Date());
  const selector = searchParams.get('labelSelector') ?? '';
  if (group === 'metrics.k8s.io') {
    const items = within(values.usage, namespace).map(([pod, containers]) => podMetrics(namespace, pod, containers, timestamp, selector));
    return { kind: 'PodMetricsList', apiVersion: `${group}/${version}`, metadata: {}, items };
  }
  if (group === 'external.metrics.k8s.io') {
    const series = values.external.get(`${namespace}/${resource}`) ?? [];
    const items = series.map((value) => ({ metricName: resource, metricLabels: {}, timestamp, value }));
    return { kind: 'ExternalMetricValueList', apiVersion: `${group}/${version}`, metadata: {}, items };
  }
  const found = within(values.custom, namespace).filter(([key]) => {
    const [ofResource, ofName, ofMetric] = key.split('/');
    return ofResource === resource && ofMetric === (metric ?? name) && (name === '*' || metric === undefined || ofName === name);
  });
  if (found.length === 0) return undefined;
  const items = found.map(([key, value]) => ({
    describedObject: { kind: 'Pod', namespace, name: key.split('/')[1] },
    metric: { name: metric ?? name, selector: null },
    timestamp,
    value,
  }));
  return { kind: 'MetricValueList', apiVersion: `${group}/${version}`, metadata: {}, items };
}

function within<T>(map: Map<string, T>, namespace: string): [string, T][] {
  return [...map].flatMap(([key, value]) =>
    key.startsWith(`${namespace}/`) ? [[key.slice(namespace.length + 1), value] as [string, T]] : [],
  );
}

function podMetrics(
  namespace: string,
  name: string,
  containers: Record<string, Record<string, string>>,
  timestamp: string,
  selector: string,
): Json {
  const labels = Object.fromEntries(selector.split(',').map((term) => term.split('=')));
  return {
    metadata: { name, namespace, labels },
    timestamp,
    window: '30s',
    containers: Object.entries(containers).map(([container, usage]) => ({ name: container, usage })),
  };
}

function resourceList(group: string, version: string): Json {
  const resources =
    group === 'metrics.k8s.io' ? [{ name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] }] : [];
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/${version}`, resources };
}

function notFound(response: ServerResponse, path: string): void {
  const message = `the server could not find the metric for ${path.split('/').slice(4).join('/')}`;
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason: 'NotFound', details: {}, code: 404 };
  response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(status));
}

/** By a name instead of an address: endpoints may not be on loopback. */
async function register(client: Client, port: number, groups: string[]): Promise<void> {
  const namespace = 'metrics-apis';
  await client
    .resource(Namespace)
    .create({ metadata: { name: namespace } })
    .catch(ignoreExisting);
  const spec = { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] };
  await client
    .resource<KubeObject>(Service, namespace)
    .create({ metadata: { name: 'metrics' }, spec })
    .catch(ignoreExisting);
  for (const [group, version] of GROUPS.filter(([name]) => groups.includes(name))) {
    const service = { namespace, name: 'metrics', port };
    await client.resource<KubeObject>(APIService).create({
      metadata: { name: `${version}.${group}` },
      spec: { group, version, service, insecureSkipTLSVerify: true, groupPriorityMinimum: 100, versionPriority: 100 },
    });
    await available(client, `${version}.${group}`);
  }
}

async function available(client: Client, name: string): Promise<void> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const { status } = await client.resource<KubeObject>(APIService).get(name);
    if ((status?.conditions ?? []).some((one: Json) => one.type === 'Available' && one.status === 'True')) return;
    if (Date.now() > deadline) throw new Error(`${name} is not available: ${JSON.stringify(status)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function ignoreExisting(error: unknown): void {
  if ((error as { code?: number }).code !== 409) throw error;
}
