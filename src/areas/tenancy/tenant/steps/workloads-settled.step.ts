import { SUSPENDED_ANNOTATION } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import { TenantCondition, TenantReason } from '../../../../api/tenantry.dev/v1alpha1/reasons.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { done, waiting, type Outcome } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import type { TenantNamespaces } from '../tenant-namespaces.ts';
import type { TenantWorkloads } from '../tenant-workloads.ts';

/** What was let in just before the suspension was known everywhere is found by looking again. */
const LOOK_AGAIN_MS = 1000;

/** Scales a tenant's workloads to zero and back. */
export class Suspension {
  readonly #namespaces: Pick<TenantNamespaces, 'annotate' | 'annotationOf' | 'withWorkloads'>;
  readonly #workloads: Pick<TenantWorkloads, 'suspend' | 'resume'>;
  /** In which namespaces nothing was left to suspend: as long as nothing new can start there, nobody looks again. */
  readonly #settled = new Map<string, string>();

  constructor(
    namespaces: Pick<TenantNamespaces, 'annotate' | 'annotationOf' | 'withWorkloads'>,
    workloads: Pick<TenantWorkloads, 'suspend' | 'resume'>,
  ) {
    this.#namespaces = namespaces;
    this.#workloads = workloads;
  }

  async suspend(tenant: string): Promise<Outcome> {
    await this.#namespaces.annotate(tenant, SUSPENDED_ANNOTATION, 'true');
    const namespaces = this.#namespaces.withWorkloads(tenant);
    const looked = namespaces.join(' ');
    if (this.#settled.get(tenant) !== looked) {
      const suspended = await this.#workloads.suspend(namespaces);
      if (suspended > 0) return waiting(TenantReason.Suspending, `${suspended} workloads were scaled to zero`, LOOK_AGAIN_MS);
      this.#settled.set(tenant, looked);
    }
    return done(TenantReason.Suspended, 'all workloads are scaled to zero');
  }

  /** The annotation goes last: it says that there may be something to undo. */
  async resume(tenant: string): Promise<void> {
    this.#settled.delete(tenant);
    if (this.#namespaces.annotationOf(tenant, SUSPENDED_ANNOTATION) === undefined) return;
    await this.#workloads.resume(this.#namespaces.withWorkloads(tenant));
    await this.#namespaces.annotate(tenant, SUSPENDED_ANNOTATION, null);
  }
}

export function workloadsSettled(suspension: Suspension): Step<Tenant> {
  return {
    name: TenantCondition.WorkloadsSettled,
    async run({ metadata, spec }) {
      if (spec.suspended) return suspension.suspend(metadata.name!);
      await suspension.resume(metadata.name!);
      return done(TenantReason.Running);
    },
  };
}
