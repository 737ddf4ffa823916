import { MANAGED_LABEL, PUBLISHER_LABEL } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { PublisherKind } from '../../../api/plugins.tenantry.dev/v1alpha1/publisher.ts';
import { Controller, type ReconcileResult } from '../../../runtime/controller.ts';
import type { PluginsEnvironment } from '../plugins-environment.ts';
import { imageValidatingPolicy, ImageValidatingPolicyKind, KYVERNO_PART, nextKeyAt, policyNameOf } from './image-validating-policy.ts';
import { ServedKind } from './served-kind.ts';

const LONGEST_WAIT_MS = 24 * 3600_000;

/** On clusters with Kyverno: a policy per publisher, so that its admission says the same as ours. */
export function kyvernoController(environment: PluginsEnvironment): Controller {
  const { clock, informers } = environment;
  const publishers = informers.get(PublisherKind);
  const policies = new ServedKind(ImageValidatingPolicyKind, `${MANAGED_LABEL}=${KYVERNO_PART}`, environment);
  const reconcile = async (key: string): Promise<ReconcileResult | void> => {
    const own = await policies.own();
    if (!own) return undefined;
    const existing = own.get(policyNameOf(key));
    const publisher = publishers.get(key);
    if (!publisher || publisher.metadata.deletionTimestamp) {
      if (existing) await policies.remove(existing);
      return undefined;
    }
    const now = clock.now();
    await policies.apply(imageValidatingPolicy(publisher, now), existing);
    const next = nextKeyAt(publisher, now);
    // Time alone makes a key count.
    return next === undefined ? undefined : { afterMs: Math.min(next - now + 1, LONGEST_WAIT_MS) };
  };
  const controller = new Controller({ ...environment, name: 'plugin-kyverno', reconcile });
  policies.onChange(({ metadata }) => controller.queue.add(metadata.labels?.[PUBLISHER_LABEL] ?? ''));
  return controller.watch(publishers).watch(policies.definition, () => Array.from(publishers.list(), ({ metadata }) => metadata.name!));
}
