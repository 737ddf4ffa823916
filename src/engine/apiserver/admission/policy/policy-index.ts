import type { KubeObject } from '../../../../kube/object.ts';
import type { ObjectReader } from '../../registry/objects.ts';
import type { AdmissionRequest } from '../admission.ts';
import { isNamespaceResource } from '../refusal.ts';
import { isAdmissionConfiguration, ruleMatches } from '../webhook/rules.ts';
import type { Equivalents } from '../webhook/webhook-index.ts';
import { compileBinding, compilePolicy, type CompiledBinding, type CompiledPolicy } from './compiled-policy.ts';
import type { CompileExpression } from './expression.ts';

export interface BoundPolicy {
  policy: CompiledPolicy;
  bindings: CompiledBinding[];
}

const GROUP = 'admissionregistration.k8s.io';
const NONE: readonly BoundPolicy[] = Object.freeze([]);
const MAX_CACHED = 5000;

/** All policies that have a binding, compiled once per change; which kinds of requests they are about is remembered. */
export class PolicyIndex {
  readonly #reader: ObjectReader;
  readonly #compile: CompileExpression;
  readonly #equivalents: Equivalents | undefined;
  readonly #compiled = new Map<string, { version: string; policy: CompiledPolicy }>();
  readonly #candidates = new Map<string, readonly BoundPolicy[]>();
  #policies: BoundPolicy[] | undefined;

  constructor(reader: ObjectReader, compile: CompileExpression, equivalents?: Equivalents) {
    this.#reader = reader;
    this.#compile = compile;
    this.#equivalents = equivalents;
    const forget = () => {
      this.#policies = undefined;
      this.#candidates.clear();
    };
    reader.onChange({ group: GROUP, resource: 'validatingadmissionpolicies' }, forget);
    reader.onChange({ group: GROUP, resource: 'validatingadmissionpolicybindings' }, forget);
  }

  resourcesChanged(): void {
    this.#candidates.clear();
  }

  candidates(request: AdmissionRequest): readonly BoundPolicy[] {
    const policies = this.#policies ?? this.#load();
    if (policies.length === 0 || isAdmissionConfiguration(request.kind)) return NONE;
    const { group, version, resource } = request.resource;
    const namespaced = request.namespace !== '' && !isNamespaceResource(request);
    const key = `${request.operation} ${group}/${version}/${resource}/${request.subresource} ${namespaced}`;
    let found = this.#candidates.get(key);
    if (!found) {
      found = policies.filter(({ policy }) => this.#mayMatch(policy, request, namespaced));
      if (this.#candidates.size >= MAX_CACHED) this.#candidates.clear();
      this.#candidates.set(key, found.length === 0 ? NONE : found);
    }
    return found;
  }

  #mayMatch({ match }: CompiledPolicy, request: AdmissionRequest, namespaced: boolean): boolean {
    if (match.rules.length === 0) return true;
    const { operation, subresource, resource } = request;
    const resources = [resource];
    if (match.matchesEquivalents && this.#equivalents) {
      resources.push(...this.#equivalents.resourcesFor(resource, subresource).map((other) => other.resource));
    }
    return resources.some((candidate) =>
      match.rules.some((rule) => ruleMatches(rule, { operation, subresource, namespaced, resource: candidate })),
    );
  }

  #load(): BoundPolicy[] {
    const policies = this.#reader.list({ group: GROUP, resource: 'validatingadmissionpolicies' });
    const bindings = this.#reader.list({ group: GROUP, resource: 'validatingadmissionpolicybindings' }).sort(byName).map(compileBinding);
    const names = new Set(policies.map((policy) => policy.metadata.name!));
    for (const name of this.#compiled.keys()) if (!names.has(name)) this.#compiled.delete(name);
    this.#policies = policies.sort(byName).flatMap((policy) => {
      const bound = bindings.filter((binding) => binding.policyName === policy.metadata.name);
      return bound.length === 0 ? [] : [{ policy: this.#compilePolicy(policy), bindings: bound }];
    });
    return this.#policies;
  }

  #compilePolicy(source: KubeObject): CompiledPolicy {
    const { name = '', uid = '', generation, resourceVersion } = source.metadata;
    const version = `${uid}/${generation ?? resourceVersion}`;
    const known = this.#compiled.get(name);
    if (known?.version === version) return known.policy;
    const policy = compilePolicy(source, this.#compile);
    this.#compiled.set(name, { version, policy });
    return policy;
  }
}

function byName(a: KubeObject, b: KubeObject): number {
  return a.metadata.name! < b.metadata.name! ? -1 : 1;
}
