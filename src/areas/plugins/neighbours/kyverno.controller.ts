import { MANAGED_LABEL, PLATFORM_NAMESPACE, PLATFORM_SETTINGS, PUBLISHER_LABEL } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { PublisherKind } from '../../../api/plugins.tenantry.dev/v1alpha1/publisher.ts';
import { Controller, type ReconcileResult } from '../../../runtime/controller.ts';
import type { InstallationParts } from '../installation/installation-parts.ts';
import type { PluginsEnvironment } from '../plugins-environment.ts';
import { imageValidatingPolicy, ImageValidatingPolicyKind, KYVERNO_PART, nextKeyAt, policyNameOf } from './image-validating-policy.ts';
import { ServedKind } from './served-kind.ts';

const LONGEST_WAIT_MS = 24 * 3600_000;

/** On clusters with Kyverno: a policy per publisher, so that its admission says the same as ours. */
export function kyvernoController(environment: PluginsEnvironment, { database: { settings } }: InstallationParts): Controller {
  const { clock, informers } = environment;
  const publishers = informers.get(PublisherKind);
  const policies = new ServedKind(ImageValidatingPolicyKind, `${MANAGED_LABEL}=${KYVERNO_PART}`, environment);
  /** A Kyverno that cannot reach Sigstore's roots refuses every image: whoever has one must be able to do without. */
  const isOff = (): boolean => {
    const encoded = settings.find(PLATFORM_NAMESPACE, PLATFORM_SETTINGS)?.data?.kyverno as string | undefined;
    return (
      Buffer.from(encoded ?? '', 'base64')
        .toString()
        .trim() === 'off'
    );
  };
  const reconcile = async (key: string): Promise<ReconcileResult | void> => {
    const own = await policies.own();
    if (!own) return undefined;
    const existing = own.get(policyNameOf(key));
    const publisher = publishers.get(key);
    if (!publisher || publisher.metadata.deletionTimestamp || isOff()) {
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
  const everyone = () => Array.from(publishers.list(), ({ metadata }) => metadata.name!);
  return controller.watch(publishers).watch(policies.definition, everyone).watch(settings, everyone);
}
