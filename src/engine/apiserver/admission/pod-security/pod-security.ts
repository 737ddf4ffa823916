import { fieldErrorText, type FieldError } from '../../../../kube/field-error.ts';
import { qualifiedResource, type Json, type KubeObject, type ObjectMeta } from '../../../../kube/object.ts';
import { failure, invalidError } from '../../../../kube/status.ts';
import type { ObjectReader } from '../../registry/objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts';
import { aggregateText, isNamespaceResource, isOn, refusal, requestedName } from '../refusal.ts';
import { detailsText, evaluatePod } from './evaluate.ts';
import { existingPodWarnings } from './namespace-pods.ts';
import {
  compareLevels,
  isFullyPrivileged,
  LABEL_PREFIX,
  levelVersionText,
  policyFromLabels,
  PRIVILEGED_POLICY,
  sameLevelVersion,
  type LevelVersion,
  type Policy,
} from './policy.ts';

/** Where the pod template of each workload is. */
const TEMPLATES: Record<string, (object: KubeObject) => Json> = {
  replicationcontrollers: (object) => object.spec?.template,
  podtemplates: (object) => object.template,
  'replicasets.apps': (object) => object.spec?.template,
  'deployments.apps': (object) => object.spec?.template,
  'statefulsets.apps': (object) => object.spec?.template,
  'daemonsets.apps': (object) => object.spec?.template,
  'jobs.batch': (object) => object.spec?.template,
  'cronjobs.batch': (object) => object.spec?.jobTemplate?.spec?.template,
};
const IGNORED_POD_SUBRESOURCES = new Set(['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status']);
const NAMESPACES = { group: '', resource: 'namespaces' };
const PODS = { group: '', resource: 'pods' };

export interface PodSecurityOptions {
  reader: ObjectReader;
  /** What holds for namespaces without labels. */
  defaults?: Policy;
  exemptions?: { namespaces?: string[]; usernames?: string[]; runtimeClasses?: string[] };
  /** Milliseconds of a monotonic clock. */
  now?: () => number;
}

/** The Pod Security Standards: pods are refused, workloads and label changes are warned about. */
export function podSecurity(options: PodSecurityOptions): AdmissionPlugin {
  const evaluation = new PodSecurityEvaluation(options);
  return {
    name: 'PodSecurity',
    handles: (request) =>
      (request.operation === 'CREATE' || request.operation === 'UPDATE') &&
      (isOn(request, '', 'pods')
        ? !IGNORED_POD_SUBRESOURCES.has(request.subresource)
        : request.subresource === '' && (isNamespaceResource(request) || qualifiedResource(request.resource) in TEMPLATES)),
    validate(request) {
      if (isNamespaceResource(request)) return evaluation.namespace(request);
      if (isOn(request, '', 'pods')) evaluation.pod(request);
      else evaluation.workload(request, TEMPLATES[qualifiedResource(request.resource)]);
    },
  };
}

class PodSecurityEvaluation {
  readonly #options: PodSecurityOptions;
  readonly #defaults: Policy;

  constructor(options: PodSecurityOptions) {
    this.#options = options;
    this.#defaults = options.defaults ?? PRIVILEGED_POLICY;
  }

  pod(request: AdmissionRequest): void {
    if (this.#isExempt(request)) return;
    const namespace = this.#options.reader.get(NAMESPACES, '', request.namespace);
    if (!namespace) {
      const message = `failed to lookup namespace "${request.namespace}"`;
      throw failure('InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
    }
    const { policy, errors } = policyFromLabels(namespace.metadata.labels, this.#defaults);
    if (errors.length === 0 && isFullyPrivileged(policy)) return annotate(request, 'enforce-policy', 'privileged:latest');
    if (request.operation === 'UPDATE' && !isSignificantUpdate(request.object!, request.oldObject!)) return;
    this.#evaluate(request, policy, errors, request.object!.metadata, request.object!.spec, true);
  }

  workload(request: AdmissionRequest, templateOf: (object: KubeObject) => Json): void {
    if (this.#isExempt(request)) return;
    const namespace = this.#options.reader.get(NAMESPACES, '', request.namespace);
    if (!namespace) {
      const missing = `namespaces "${request.namespace}" not found`;
      return annotate(request, 'error', `failed to lookup namespace "${request.namespace}": ${missing}`);
    }
    const { policy, errors } = policyFromLabels(namespace.metadata.labels, this.#defaults);
    if (errors.length === 0 && policy.warn.level === 'privileged' && policy.audit.level === 'privileged') return;
    const template = templateOf(request.object!);
    if (template) this.#evaluate(request, policy, errors, template.metadata ?? {}, template.spec ?? {}, false);
  }

  namespace(request: AdmissionRequest): Promise<void> | void {
    const labels = request.object!.metadata.labels;
    const { policy, errors } = policyFromLabels(labels, this.#defaults);
    if (request.operation === 'CREATE') {
      if (errors.length > 0) throw invalidError(request.kind, request.name, errors);
      return this.#warnOfExemption(request, policy);
    }
    const old = policyFromLabels(request.oldObject!.metadata.labels, this.#defaults);
    if (errors.length > 0 && textOf(errors) !== textOf(old.errors)) throw invalidError(request.kind, request.name, errors);
    const { enforce } = policy;
    if (sameLevelVersion(enforce, old.policy.enforce) || enforce.level === 'privileged') return;
    if (enforce.minor === old.policy.enforce.minor && compareLevels(enforce.level, old.policy.enforce.level) < 1) return;
    if (this.#isExemptNamespace(request.name)) return this.#warnOfExemption(request, policy);
    return this.#warnOfPods(request, policy);
  }

  async #warnOfPods(request: AdmissionRequest, { enforce }: Policy): Promise<void> {
    const pods = this.#options.reader.list(PODS, request.name);
    const warnings = await existingPodWarnings(request.name, pods, enforce, {
      isExempt: (pod) => this.#isExemptRuntimeClass(pod.spec),
      now: this.#options.now ?? (() => performance.now()),
      pause: () => new Promise((resolve) => setImmediate(resolve)),
      budgetMs: 1000,
    });
    for (const warning of warnings) request.warn(warning);
  }

  #evaluate(request: AdmissionRequest, policy: Policy, errors: FieldError[], metadata: ObjectMeta, spec: Json, enforce: boolean): void {
    if (this.#isExemptRuntimeClass(spec)) return annotate(request, 'exempt', 'runtimeClass');
    if (errors.length > 0) annotate(request, 'error', `Failed to parse policy: ${aggregateText(errors.map(fieldErrorText))}`);
    const findings = new Map<string, string>();
    const against = (levelVersion: LevelVersion): { name: string; violations: string } => {
      const name = levelVersionText(levelVersion);
      let violations = findings.get(name);
      if (violations === undefined) findings.set(name, (violations = detailsText(evaluatePod(levelVersion, metadata, spec))));
      return { name, violations };
    };
    const enforced = enforce ? against(policy.enforce) : undefined;
    if (enforced) annotate(request, 'enforce-policy', enforced.name);
    const audited = against(policy.audit);
    if (audited.violations) annotate(request, 'audit-violations', `would violate PodSecurity "${audited.name}": ${audited.violations}`);
    if (enforced?.violations) throw refusal(request, `violates PodSecurity "${enforced.name}": ${enforced.violations}`);
    const warned = against(policy.warn);
    if (warned.violations) request.warn(`would violate PodSecurity "${warned.name}": ${warned.violations}`);
  }

  #isExempt(request: AdmissionRequest): boolean {
    const user = this.#options.exemptions?.usernames?.includes(request.user.name) ?? false;
    const namespace = this.#isExemptNamespace(request.namespace);
    if (namespace || user) annotate(request, 'exempt', namespace ? 'namespace' : 'user');
    return namespace || user;
  }

  #isExemptNamespace(namespace: string): boolean {
    return this.#options.exemptions?.namespaces?.includes(namespace) ?? false;
  }

  #isExemptRuntimeClass(spec: Json): boolean {
    return Boolean(spec.runtimeClassName) && (this.#options.exemptions?.runtimeClasses?.includes(spec.runtimeClassName) ?? false);
  }

  #warnOfExemption(request: AdmissionRequest, policy: Policy): void {
    const name = requestedName(request);
    if (!this.#isExemptNamespace(name) || isFullyPrivileged(policy) || this.#isDefault(policy)) return;
    const labels = request.object!.metadata.labels ?? {};
    const modes = (['enforce', 'audit', 'warn'] as const).filter(
      (mode) => policy[mode].level !== 'privileged' && (LABEL_PREFIX + mode in labels || `${LABEL_PREFIX}${mode}-version` in labels),
    );
    const text = modes.map((mode) => `${mode}=${levelVersionText(policy[mode])}`).join(', ');
    request.warn(`namespace "${name}" is exempt from Pod Security, and the policy (${text}) will be ignored`);
  }

  #isDefault(policy: Policy): boolean {
    return (['enforce', 'audit', 'warn'] as const).every(
      (mode) =>
        sameLevelVersion(policy[mode], this.#defaults[mode]) ||
        (policy[mode].level === 'privileged' && this.#defaults[mode].level === 'privileged'),
    );
  }
}

function annotate(request: AdmissionRequest, key: string, value: string): void {
  request.annotate(LABEL_PREFIX + key, value);
}

function textOf(errors: FieldError[]): string {
  return errors.map(fieldErrorText).join('\n');
}

/** Of a pod's mutable fields only images and added containers can change the verdict. */
function isSignificantUpdate(pod: KubeObject, old: KubeObject): boolean {
  for (const list of ['containers', 'initContainers']) {
    const now: Json[] = pod.spec[list] ?? [];
    const before: Json[] = old.spec[list] ?? [];
    if (now.length !== before.length || now.some((container, index) => container.image !== before[index].image)) return true;
  }
  const before: Json[] = old.spec.ephemeralContainers ?? [];
  return (pod.spec.ephemeralContainers ?? []).some((container: Json) => {
    const known = before.find((candidate) => candidate.name === container.name);
    return !known || known.image !== container.image;
  });
}
