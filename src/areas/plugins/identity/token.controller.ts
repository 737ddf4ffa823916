import { InstallationCondition } from '../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { isConditionTrue } from '../../../kube/conditions.ts';
import { Controller, type ReconcileResult } from '../../../runtime/controller.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import type { InstallationParts } from '../installation/installation-parts.ts';
import type { PluginsEnvironment } from '../plugins-environment.ts';

const CONCURRENCY = 4;
const LOOK_AGAIN_MS = 60_000;

/** Replaces the tokens of plugins before they end, and all of them when a key goes. */
export function tokenController(
  environment: PluginsEnvironment,
  { installations, tokens, keySecret, jwks, target, isSuspended }: InstallationParts,
): Controller {
  const { clock } = environment;
  const everyone = (): string[] => Array.from(installations.list(), keyOf);
  const reconcile = async (key: string): Promise<ReconcileResult | void> => {
    const installation = installations.get(key);
    if (!installation || installation.metadata.deletionTimestamp || isSuspended(installation)) return undefined;
    if (!isConditionTrue(installation.status?.conditions, InstallationCondition.IdentityIssued)) return undefined;
    const session = installation.status?.identity;
    if (session === undefined) return undefined;
    const remaining = await tokens.ensure(target(installation), session, clock.now());
    // Time alone ends a token, and the clock may jump.
    return { afterMs: Math.min(remaining, LOOK_AGAIN_MS) };
  };
  return new Controller({ ...environment, name: 'plugin-token', concurrency: CONCURRENCY, reconcile })
    .watch(installations)
    .watch(keySecret, everyone)
    .watch(jwks, ({ type }) => (type === 'added' ? [] : everyone()));
}
