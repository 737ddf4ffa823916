import { matchesFields, parseFieldSelector } from '../../../kube/field-selector.ts';
import { parseLabelSelector } from '../../../kube/label-selector.ts';
import type { GroupResource, Json, KubeObject } from '../../../kube/object.ts';
import { badRequestError, failure, notFoundError } from '../../../kube/status.ts';
import { objectResponse, type ApiRequest, type ApiResponse } from '../chain/request.ts';
import { negotiate } from '../encoding/accept.ts';
import type { ObjectReader } from '../registry/objects.ts';
import { METRICS_GROUP, METRICS_VERSION, metricsList, nodeMetrics, podMetrics } from './model/metrics-objects.ts';
import { metricsTable } from './model/metrics-table.ts';
import type { Answer, NodeSummaries } from './node-summaries.ts';

const NODES: GroupResource = { group: '', resource: 'nodes' };
const PODS: GroupResource = { group: '', resource: 'pods' };

/** Its entry of discovery. */
export const METRICS_RESOURCES: Json[] = [
  { name: 'nodes', singularName: '', namespaced: false, kind: 'NodeMetrics', verbs: ['get', 'list'] },
  { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] },
];

export interface MetricsApiOptions {
  reader: ObjectReader;
  summaries: Pick<NodeSummaries, 'of'>;
  now(): Date;
}

/**
 * The resource metrics API (`kubectl top`, autoscalers), answered from what nodes say when they are asked. What a node does not say is left
 * out, with a warning that tells which and why.
 */
export class MetricsApi {
  readonly #options: MetricsApiOptions;

  constructor(options: MetricsApiOptions) {
    this.#options = options;
  }

  /** Undefined for other APIs. */
  answer(request: ApiRequest): Promise<ApiResponse> | undefined {
    const { group, version } = request.info;
    return group === METRICS_GROUP && version === METRICS_VERSION ? this.#answer(request) : undefined;
  }

  async #answer(request: ApiRequest): Promise<ApiResponse> {
    const { resource, verb, subresource, namespace } = request.info;
    const known = METRICS_RESOURCES.find(({ name }) => name === resource);
    if (known === undefined || subresource !== '' || (namespace !== '' && !known.namespaced)) {
      throw failure('NotFound', 'the server could not find the requested resource', {});
    }
    if (verb !== 'list' && (verb !== 'get' || (known.namespaced && namespace === ''))) {
      throw failure('MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
    }
    if (resource === 'nodes') return verb === 'get' ? this.#node(request) : this.#nodes(request);
    return verb === 'get' ? this.#pod(request) : this.#pods(request);
  }

  async #nodes(request: ApiRequest): Promise<ApiResponse> {
    const nodes = selected(this.#options.reader.list(NODES), request);
    const items = await this.#measuredNodes(nodes, request);
    return respond(request, items, () => metricsList('NodeMetrics', items));
  }

  async #node(request: ApiRequest): Promise<ApiResponse> {
    const { name } = request.info;
    const node = this.#options.reader.get(NODES, '', name);
    if (!node) throw notFoundError(NODES, name);
    const [item] = await this.#measuredNodes([node], request);
    if (!item) throw notFoundError({ group: METRICS_GROUP, resource: 'nodemetrics' }, name);
    return respond(request, [item], () => item);
  }

  async #pods(request: ApiRequest): Promise<ApiResponse> {
    const { reader } = this.#options;
    const { namespace } = request.info;
    const pods = selected(reader.list(PODS, namespace === '' ? undefined : namespace), request);
    const items = await this.#measuredPods(pods, request);
    return respond(request, items, () => metricsList('PodMetrics', items));
  }

  async #pod(request: ApiRequest): Promise<ApiResponse> {
    const { name, namespace } = request.info;
    const pod = this.#options.reader.get(PODS, namespace, name);
    if (!pod) throw notFoundError(PODS, name);
    const [item] = await this.#measuredPods([pod], request);
    if (!item) throw notFoundError({ group: METRICS_GROUP, resource: 'podmetrics' }, `${namespace}/${name}`);
    return respond(request, [item], () => item);
  }

  async #measuredNodes(nodes: readonly KubeObject[], request: ApiRequest): Promise<KubeObject[]> {
    const now = this.#options.now();
    const answers = await this.#ask(nodes, request);
    return answers.flatMap((answer, i) => {
      const usage = 'summary' in answer ? answer.summary.node : undefined;
      return usage ? [nodeMetrics(nodes[i], usage, now)] : [];
    });
  }

  async #measuredPods(pods: readonly KubeObject[], request: ApiRequest): Promise<KubeObject[]> {
    const { reader, now } = this.#options;
    const names = new Set(pods.flatMap(({ spec }) => (spec?.nodeName ? [String(spec.nodeName)] : [])));
    const nodes = [...names].flatMap((name) => reader.get(NODES, '', name) ?? []);
    const answers = await this.#ask(nodes, request);
    const summaries = new Map(answers.flatMap((answer) => ('summary' in answer ? [[answer.node, answer.summary.pods]] : [])));
    const at = now();
    return pods.flatMap((pod) => {
      const { name, namespace, uid } = pod.metadata;
      const usage = summaries.get(pod.spec?.nodeName)?.get(`${namespace}/${name}`);
      // A Pod of the same name that was there before is another one.
      return usage && (usage.uid ?? uid) === uid ? [podMetrics(pod, usage, at)] : [];
    });
  }

  async #ask(nodes: readonly KubeObject[], request: ApiRequest): Promise<Answer[]> {
    const answers = await this.#options.summaries.of(nodes);
    for (const answer of answers) {
      if ('failure' in answer) request.warnings.push(`metrics of node "${answer.node}" are missing: ${answer.failure}`);
    }
    return answers;
  }
}

const SELECTABLE = new Set(['metadata.name', 'metadata.namespace']);

function selected(objects: readonly KubeObject[], { query }: ApiRequest): KubeObject[] {
  const labels = parseLabelSelector(query.get('labelSelector') ?? '');
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '');
  const unknown = fields.find(({ field }) => !SELECTABLE.has(field));
  if (unknown) throw badRequestError(`field label not supported: ${unknown.field}`);
  return objects.filter(
    ({ metadata }) =>
      labels.matches(metadata.labels) &&
      matchesFields(fields, (field) => (field === 'metadata.name' ? metadata.name : metadata.namespace) ?? ''),
  );
}

function respond({ headers, query }: ApiRequest, items: readonly KubeObject[], whole: () => Json): ApiResponse {
  const { as, metaVersion } = negotiate(headers.accept);
  if (as !== 'Table') return objectResponse(200, whole());
  return objectResponse(200, metricsTable(items, metaVersion, query.get('includeObject') ?? 'Metadata'));
}
