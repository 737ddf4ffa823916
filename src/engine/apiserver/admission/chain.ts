import type { AdmissionOperation, AdmissionPlugin, AdmissionRequest } from './admission.ts';

/** The order of kube-apiserver: what sets fields comes before what judges them, webhooks near the end, quota last. */
export const UPSTREAM_ORDER: readonly string[] = [
  'NamespaceLifecycle',
  'LimitRanger',
  'ServiceAccount',
  'NodeRestriction',
  'TaintNodesByCondition',
  'PodSecurity',
  'Priority',
  'DefaultTolerationSeconds',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'OwnerReferencesPermissionEnforcement',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'CertificateApproval',
  'CertificateSigning',
  'ClusterTrustBundleAttest',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'PodTopologyLabels',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
  'RBACEscalation',
];

export type AdmissionPhase = 'mutate' | 'validate';

export interface AdmissionObservation {
  plugin: string;
  phase: AdmissionPhase;
  operation: AdmissionOperation;
  rejected: boolean;
  seconds: number;
}

export interface AdmissionOptions {
  plugins: readonly AdmissionPlugin[];
  order?: readonly string[];
  /** Called after each plugin that handled a request. Without it nothing is measured. */
  observe?: (observation: AdmissionObservation) => void;
  /** Milliseconds of a monotonic clock, for the observations. */
  now?: () => number;
}

export interface Admission {
  /** Runs all mutating plugins, a second time when a webhook asks for it. A promise only if some plugin needed one. */
  mutate(request: AdmissionRequest): Promise<void> | void;
  /** Runs all validating plugins. A promise only if some plugin needed one. */
  validate(request: AdmissionRequest): Promise<void> | void;
  /** To be called when an admitted write fails: gives back what plugins took for it. */
  abandon(request: AdmissionRequest): void;
}

export function createAdmission(options: AdmissionOptions): Admission {
  const ordered = inOrder(options.plugins, options.order ?? UPSTREAM_ORDER);
  const mutating = ordered.filter((plugin) => plugin.mutate !== undefined);
  const validating = ordered.filter((plugin) => plugin.validate !== undefined);
  const step = options.observe ? observedStep(options.observe, options.now ?? (() => performance.now())) : plainStep;

  function run(phase: AdmissionPhase, plugins: AdmissionPlugin[], request: AdmissionRequest, from = 0): Promise<void> | void {
    for (let index = from; index < plugins.length; index++) {
      const plugin = plugins[index];
      if (!plugin.handles(request)) continue;
      const pending = step(plugin, phase, request);
      if (pending) return pending.then(() => run(phase, plugins, request, index + 1));
    }
  }

  function again(request: AdmissionRequest): Promise<void> | void {
    const reinvocation = request.reinvocation;
    if (!reinvocation?.requested || reinvocation.active) return;
    reinvocation.active = true;
    return run('mutate', mutating, request);
  }

  return {
    mutate(request) {
      const pending = run('mutate', mutating, request);
      return pending ? pending.then(() => again(request)) : again(request);
    },
    validate: (request) => run('validate', validating, request),
    abandon(request) {
      for (const undo of request.undo ?? []) undo();
      request.undo = undefined;
    },
  };
}

type Step = (plugin: AdmissionPlugin, phase: AdmissionPhase, request: AdmissionRequest) => Promise<void> | void;

const plainStep: Step = (plugin, phase, request) => plugin[phase]?.(request);

function observedStep(observe: (observation: AdmissionObservation) => void, now: () => number): Step {
  return (plugin, phase, request) => {
    const started = now();
    const done = (rejected: boolean) =>
      observe({ plugin: plugin.name, phase, operation: request.operation, rejected, seconds: (now() - started) / 1000 });
    try {
      const pending = plugin[phase]?.(request);
      if (!pending) return done(false);
      return pending.then(
        () => done(false),
        (error) => {
          done(true);
          throw error;
        },
      );
    } catch (error) {
      done(true);
      throw error;
    }
  };
}

function inOrder(plugins: readonly AdmissionPlugin[], order: readonly string[]): AdmissionPlugin[] {
  const rank = new Map(order.map((name, index) => [name, index]));
  const unknown = plugins.find((plugin) => !rank.has(plugin.name));
  if (unknown) throw new Error(`Cannot order the admission plugin "${unknown.name}": it is not in the order; add its name there`);
  return [...plugins].sort((a, b) => rank.get(a.name)! - rank.get(b.name)!);
}
