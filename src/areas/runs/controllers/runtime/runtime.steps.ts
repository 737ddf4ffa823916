import { RUNTIME_LABEL } from '../../../../api/kruntimes.io/v1alpha1/names.ts';
import { RuntimeCondition } from '../../../../api/kruntimes.io/v1alpha1/reasons.ts';
import type { Runtime } from '../../../../api/kruntimes.io/v1alpha1/runtime.ts';
import { setCondition } from '../../../../kube/conditions.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { done, stalled, waiting } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import type { Failure } from '../../model/transitions.ts';
import { deploymentName, roleBindingName, RUNTIMED_ROLE, serviceAccountOf } from './model/names.ts';
import { RUNTIMED_RULES } from './runtimed-rules.ts';
import { capabilitiesOf, complaintOf, hopelessReason } from './model/pod-reports.ts';
import { limitsRefusal, ownerOf, runtimeDeployment, type RuntimeSettings } from './model/runtime-deployment.ts';

export interface RuntimePorts {
  /** Writes the object as ours, unless it is already so. */
  apply(object: KubeObject): Promise<void>;
  deployment(namespace: string, name: string): Json;
  /** How many Pods the Runtime should have now, and for what reason. */
  replicas(runtime: Runtime): { replicas: number; queued: number; active: number };
  pods(runtime: Runtime): KubeObject[];
  /** Ends the Runs that wait for the Runtime, or those of them that are older than it. */
  failWaiting(runtime: Runtime, which: 'all' | 'older', failure: Failure): Promise<void>;
  settings: RuntimeSettings;
}

/** In this order: who the Pods are, what they may reach, the Pods, and what became of them. */
export function runtimeSteps(ports: RuntimePorts): Step<Runtime>[] {
  return [accessGuarded(ports), accountReady(ports), networkIsolated(ports), disruptionBudgeted(ports), deployed(ports), available(ports)];
}

/** Whether a user may use the Runtime is asked when he creates a Run: Runs from before the Runtime was there were never asked. */
function accessGuarded({ failWaiting }: RuntimePorts): Step<Runtime> {
  return {
    name: 'AccessGuarded',
    async run(runtime) {
      if (runtime.spec.access !== 'Restricted') return done('Open', 'for all who may create Runs in the namespace');
      const message = `the Run is older than the restricted Runtime "${runtime.metadata.name}"; create it again`;
      await failWaiting(runtime, 'older', { reason: 'AccessDenied', message });
      return done('Restricted', 'for those who have the verb "use" on it');
    },
  };
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

function disruptionBudgeted({ apply }: RuntimePorts): Step<Runtime> {
  return {
    name: 'DisruptionBudgeted',
    async run(runtime) {
      const { name, namespace } = runtime.metadata;
      await apply({
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: deploymentName(name!), namespace, ownerReferences: [ownerOf(runtime)] },
        spec: {
          // One by one, each draining first. A count of those that stay would keep a Runtime of one Pod on its node for ever.
          maxUnavailable: 1,
          selector: { matchLabels: { [RUNTIME_LABEL]: name } },
          unhealthyPodEvictionPolicy: 'AlwaysAllow',
        },
      });
      return done();
    },
  };
}

function deployed({ apply, replicas, failWaiting, settings }: RuntimePorts): Step<Runtime> {
  return {
    name: 'Deployed',
    async run(runtime, { now }) {
      const wanted = replicas(runtime);
      const message = limitsRefusal(runtime);
      if (message !== undefined) {
        // Nothing runs without the limits that were asked for.
        await apply(runtimeDeployment(runtime, 0, settings));
        const conditions = runtime.status?.conditions ?? [];
        runtime.status = { ...runtime.status, conditions };
        const reason = 'LimitsUnavailable';
        setCondition(conditions, { type: RuntimeCondition.LimitsAvailable, status: 'False', reason, message }, new Date(now()));
        await failWaiting(runtime, 'all', { reason, message });
        return stalled(reason, message);
      }
      await apply(runtimeDeployment(runtime, wanted.replicas, settings));
      runtime.status = { ...runtime.status, queuedRuns: wanted.queued, activeRuns: wanted.active };
      return done();
    },
  };
}

function available(ports: RuntimePorts): Step<Runtime> {
  return {
    name: 'Available',
    async run(runtime, { now }) {
      const { name, namespace } = runtime.metadata;
      const status = ports.deployment(namespace!, deploymentName(name!))?.status ?? {};
      const ready: number = status.readyReplicas ?? 0;
      const isStale = (type: string) => type === RuntimeCondition.LimitsAvailable && runtime.spec.limits === undefined;
      const conditions = (runtime.status?.conditions ?? []).filter(({ type }) => !isStale(type));
      runtime.status = { ...runtime.status, conditions, replicas: status.replicas ?? 0, readyReplicas: ready };
      const pods = ports.pods(runtime);
      for (const capability of capabilitiesOf(runtime, pods, ports.settings)) setCondition(conditions, capability, new Date(now()));
      const wanted = ports.replicas(runtime).replicas;
      if (wanted === 0) return done('ScaledToZero', 'a Pod starts with the first Run');
      if (ready > 0) return done('PodsReady', `${ready} of ${wanted} Pods take Runs`);
      const complaint = complaintOf(pods);
      if (complaint === undefined) return waiting('PodsStarting', `none of ${wanted} Pods takes Runs yet`);
      const reason = hopelessReason(complaint);
      if (reason !== undefined) await ports.failWaiting(runtime, 'all', { reason, message: complaint.message });
      return waiting(complaint.reason, complaint.message);
    },
  };
}
