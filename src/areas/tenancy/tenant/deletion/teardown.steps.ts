import { TenantCondition, TenantReason } from '../../../../api/tenantry.dev/v1alpha1/reasons.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { listed } from '../../../../api/tenantry.dev/v1alpha1/listed.ts';
import { formatTime } from '../../../../kube/time.ts';
import { done, waiting, type Outcome } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';

export interface TeardownPorts {
  suspend(tenant: string): Promise<Outcome>;
  resume(tenant: string): Promise<void>;
  releaseOwners(tenant: string): Promise<void>;
  /** Asks for the tenant's own cluster to go. @returns whether it is gone */
  removeCluster(tenant: string): Promise<boolean>;
  /** Deletes what must go before the namespaces. @returns what is still there */
  drain(tenant: string): Promise<string[]>;
  drainAgainMs: number;
  /** Asks for the next namespaces to be deleted. @returns those that are still there */
  deleteNamespaces(tenant: string): Promise<string[]>;
  /** Makes each namespace one of its own. @returns the anchors that are still there */
  dissolveTree(tenant: string): Promise<string[]>;
  /** Roles, policies, labels of nodes. */
  removeClusterObjects(tenant: string): Promise<void>;
}

/** In this order: nobody is surprised, nobody adds to it, what needs its controllers goes while they live, the rest, the traces. */
export function teardownSteps(ports: TeardownPorts): Step<Tenant>[] {
  return [gracePeriodOver(ports), ownersReleased(ports), hooksRun(ports), namespacesGone(ports), clusterObjectsGone(ports)];
}

/** Timers hold at most some weeks; a longer wait is begun again. */
const LONGEST_WAIT_MS = 3_600_000;

function gracePeriodOver({ suspend }: TeardownPorts): Step<Tenant> {
  return {
    name: TenantCondition.GracePeriodOver,
    async run(tenant, { now }) {
      const seconds = tenant.spec.deletion?.gracePeriodSeconds ?? 0;
      const due = Date.parse(tenant.metadata.deletionTimestamp!) + seconds * 1000;
      if (seconds > 0) (tenant.status ??= {}).deletionTime = formatTime(new Date(due));
      const left = due - now();
      if (left <= 0) return done();
      const outcome = await suspend(tenant.metadata.name!);
      const message = `suspended; deleted for good at ${formatTime(new Date(due))}`;
      const again = outcome.type === 'waiting' ? (outcome.afterMs ?? LONGEST_WAIT_MS) : LONGEST_WAIT_MS;
      // Time alone ends it.
      return waiting(TenantReason.GracePeriod, message, Math.min(left, again));
    },
  };
}

function ownersReleased({ releaseOwners }: TeardownPorts): Step<Tenant> {
  return {
    name: TenantCondition.OwnersReleased,
    async run({ metadata }) {
      await releaseOwners(metadata.name!);
      return done();
    },
  };
}

function hooksRun({ removeCluster, drain, drainAgainMs }: TeardownPorts): Step<Tenant> {
  return {
    name: TenantCondition.HooksRun,
    async run({ metadata, spec }) {
      // Before the namespaces: Runs that are placed in it go with it, and are waited for by nobody.
      if (!(await removeCluster(metadata.name!))) return waiting(TenantReason.Deleting, 'waits for its cluster to go', drainAgainMs);
      if (spec.deletion?.policy === 'Retain') return done('Retained');
      const remaining = await drain(metadata.name!);
      if (remaining.length === 0) return done();
      return waiting(TenantReason.Deleting, `waits for ${listed(remaining)}`, drainAgainMs);
    },
  };
}

function namespacesGone({ deleteNamespaces, dissolveTree, resume }: TeardownPorts): Step<Tenant> {
  return {
    name: TenantCondition.NamespacesGone,
    async run({ metadata, spec }) {
      const name = metadata.name!;
      if (spec.deletion?.policy === 'Retain') {
        await resume(name);
        const anchors = await dissolveTree(name);
        return anchors.length === 0 ? done('Retained') : waiting(TenantReason.Deleting, `anchors on their way out: ${listed(anchors)}`);
      }
      const remaining = await deleteNamespaces(name);
      return remaining.length === 0 ? done() : waiting(TenantReason.Deleting, `namespaces on their way out: ${listed(remaining)}`);
    },
  };
}

function clusterObjectsGone({ removeClusterObjects }: TeardownPorts): Step<Tenant> {
  return {
    name: TenantCondition.ClusterObjectsGone,
    async run({ metadata }) {
      await removeClusterObjects(metadata.name!);
      return done();
    },
  };
}
