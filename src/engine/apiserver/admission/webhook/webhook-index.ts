import type { GroupVersionKind, GroupVersionResource, KubeObject } from '../../../../kube/object.ts';
import type { ObjectReader } from '../../registry/objects.ts';
import type { AdmissionRequest } from '../admission.ts';
import { isNamespaceResource } from '../refusal.ts';
import { compileConfiguration, type CompileConditions, type CompiledWebhook } from './compiled-webhook.ts';
import { isAdmissionConfiguration, ruleMatches, type RuleSubject } from './rules.ts';

/** A webhook whose rules match a kind of request, and the resource under which it wants to see it. */
export interface Candidate {
  webhook: CompiledWebhook;
  resource: GroupVersionResource;
  kind: GroupVersionKind;
  /** Position among all webhooks. */
  index: number;
}

/** Other versions and groups in which the same objects are served. */
export interface Equivalents {
  resourcesFor(resource: GroupVersionResource, subresource: string): { resource: GroupVersionResource; kind: GroupVersionKind }[];
  convert(object: KubeObject, kind: GroupVersionKind): KubeObject | Promise<KubeObject>;
}

const NONE: readonly Candidate[] = Object.freeze([]);
/** There are far fewer combinations of operation and resource than this; a client that asks for made-up ones must not grow the index. */
const MAX_CACHED = 5000;

/**
 * All webhooks of one type, each configuration compiled once per change. What rules say about a kind of request is
 * remembered, so that a request that no webhook is interested in costs one lookup, and none at all without webhooks.
 */
export class WebhookIndex {
  readonly #reader: ObjectReader;
  readonly #resource: string;
  readonly #compileConditions: CompileConditions;
  readonly #equivalents: Equivalents | undefined;
  readonly #compiled = new Map<string, { uid?: string; resourceVersion?: string; webhooks: CompiledWebhook[] }>();
  readonly #candidates = new Map<string, readonly Candidate[]>();
  #webhooks: CompiledWebhook[] | undefined;

  constructor(reader: ObjectReader, resource: string, compileConditions: CompileConditions, equivalents?: Equivalents) {
    this.#reader = reader;
    this.#resource = resource;
    this.#compileConditions = compileConditions;
    this.#equivalents = equivalents;
    reader.onChange({ group: 'admissionregistration.k8s.io', resource }, () => {
      this.#webhooks = undefined;
      this.#candidates.clear();
    });
  }

  /** To be called when resources come or go: rules may match through others than before. */
  resourcesChanged(): void {
    this.#candidates.clear();
  }

  candidates(request: AdmissionRequest): readonly Candidate[] {
    const webhooks = this.#webhooks ?? this.#load();
    if (webhooks.length === 0 || isAdmissionConfiguration(request.kind)) return NONE;
    const { group, version, resource } = request.resource;
    const namespaced = request.namespace !== '' && !isNamespaceResource(request);
    const key = `${request.operation} ${group}/${version}/${resource}/${request.subresource} ${namespaced}`;
    let found = this.#candidates.get(key);
    if (!found) {
      found = this.#match(webhooks, request, namespaced);
      if (this.#candidates.size >= MAX_CACHED) this.#candidates.clear();
      this.#candidates.set(key, found);
    }
    return found;
  }

  #match(webhooks: CompiledWebhook[], request: AdmissionRequest, namespaced: boolean): readonly Candidate[] {
    const { operation, resource, subresource, kind } = request;
    const subject: RuleSubject = { operation, resource, subresource, namespaced };
    const equivalents = this.#equivalents?.resourcesFor(resource, subresource) ?? [];
    const others = equivalents.filter((other) => other.resource.group !== resource.group || other.resource.version !== resource.version);
    const found: Candidate[] = [];
    for (const [index, webhook] of webhooks.entries()) {
      if (webhook.rules.some((rule) => ruleMatches(rule, subject))) found.push({ webhook, resource, kind, index });
      else if (webhook.matchesEquivalents) {
        const other = firstEquivalent(webhook, subject, others);
        if (other) found.push({ webhook, ...other, index });
      }
    }
    return found.length === 0 ? NONE : found;
  }

  #load(): CompiledWebhook[] {
    const configurations = this.#reader.list({ group: 'admissionregistration.k8s.io', resource: this.#resource });
    configurations.sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
    const names = new Set(configurations.map((configuration) => configuration.metadata.name!));
    for (const name of this.#compiled.keys()) if (!names.has(name)) this.#compiled.delete(name);
    this.#webhooks = configurations.flatMap((configuration) => this.#compile(configuration));
    return this.#webhooks;
  }

  /** What did not change keeps its compiled form, and with it its connections. */
  #compile(source: KubeObject): CompiledWebhook[] {
    const name = source.metadata.name!;
    const known = this.#compiled.get(name);
    const { uid, resourceVersion } = source.metadata;
    if (known && known.uid === uid && known.resourceVersion === resourceVersion) return known.webhooks;
    const webhooks = compileConfiguration(source, this.#compileConditions);
    this.#compiled.set(name, { uid, resourceVersion, webhooks });
    return webhooks;
  }
}

/** Earlier rules go first. */
function firstEquivalent(
  webhook: CompiledWebhook,
  subject: RuleSubject,
  others: { resource: GroupVersionResource; kind: GroupVersionKind }[],
): { resource: GroupVersionResource; kind: GroupVersionKind } | undefined {
  for (const rule of webhook.rules) {
    const found = others.find((other) => ruleMatches(rule, { ...subject, resource: other.resource }));
    if (found) return found;
  }
  return undefined;
}
