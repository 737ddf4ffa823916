import { RUNTIME_LABEL } from '../../../../api/kruntimes.io/v1alpha1/names.ts';
import type { Runtime } from '../../../../api/kruntimes.io/v1alpha1/runtime.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { done, waiting } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { deploymentName, roleBindingName, RUNTIMED_ROLE, serviceAccountOf } from './model/names.ts';
import { RUNTIMED_RULES } from './runtimed-rules.ts';
import { ownerOf, runtimeDeployment, type RuntimeSettings } from './model/runtime-deployment.ts';

export interface RuntimePorts {
  /** Writes the object as ours, unless it is already so. */
  apply(object: KubeObject): Promise<void>;
  deployment(namespace: string, name: string): Json;
  /** How many Pods the Runtime should have now, and for what reason. */
  replicas(runtime: Runtime): { replicas: number; queued: number; active: number };
  /** What Pods of the Runtime complain of, if they do. */
  complaint(runtime: Runtime): { reason: string; message: string } | undefined;
  settings: RuntimeSettings;
}

/** In this order: who the Pods are, what they may reach, the Pods, and what became of them. */
export function runtimeSteps(ports: RuntimePorts): Step<Runtime>[] {
  return [accountReady(ports), networkIsolated(ports), deployed(ports), available(ports)];
}

function accountReady({ apply }: RuntimePorts): Step<Runtime> {
  return {
    name: 'AccountReady',
    async run({ metadata: { namespace }, ...runtime }) {
      const name = serviceAccountOf(runtime as Runtime);
      if (name === RUNTIMED_ROLE) await apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } });
      await apply({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: RUNTIMED_ROLE, namespace },
        rules: RUNTIMED_RULES,
      });
      await apply({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: roleBindingName(name), namespace },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: RUNTIMED_ROLE },
        subjects: [{ kind: 'ServiceAccount', name, namespace }],
      });
      return done();
    },
  };
}

function networkIsolated({ apply }: RuntimePorts): Step<Runtime> {
  return {
    name: 'NetworkIsolated',
    async run(runtime) {
      const { name, namespace } = runtime.metadata;
      await apply({
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name: deploymentName(name!), namespace, ownerReferences: [ownerOf(runtime)] },
        spec: { podSelector: { matchLabels: { [RUNTIME_LABEL]: name } }, policyTypes: ['Ingress'] },
      });
      return done();
    },
  };
}

function deployed({ apply, replicas, settings }: RuntimePorts): Step<Runtime> {
  return {
    name: 'Deployed',
    async run(runtime) {
      const wanted = replicas(runtime);
      await apply(runtimeDeployment(runtime, wanted.replicas, settings));
      runtime.status = { ...runtime.status, queuedRuns: wanted.queued, activeRuns: wanted.active };
      return done();
    },
  };
}

function available({ deployment, replicas, complaint }: RuntimePorts): Step<Runtime> {
  return {
    name: 'Available',
    run(runtime) {
      const { name, namespace } = runtime.metadata;
      const status = deployment(namespace!, deploymentName(name!))?.status ?? {};
      const ready: number = status.readyReplicas ?? 0;
      runtime.status = { ...runtime.status, replicas: status.replicas ?? 0, readyReplicas: ready };
      const wanted = replicas(runtime).replicas;
      if (wanted === 0) return done('ScaledToZero', 'a Pod starts with the first Run');
      if (ready > 0) return done('PodsReady', `${ready} of ${wanted} Pods take Runs`);
      const problem = complaint(runtime);
      return problem ? waiting(problem.reason, problem.message) : waiting('PodsStarting', `none of ${wanted} Pods takes Runs yet`);
    },
  };
}
