import { InstallationCondition, InstallationReason } from '../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { Secret } from '../../../client/kinds.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { Controller, type ReconcileResult } from '../../../runtime/controller.ts';
import type { InstallationParts } from '../installation/installation-parts.ts';
import type { PluginsEnvironment } from '../plugins-environment.ts';
import { DATABASE_SECRET } from '../workload/deployment.ts';
import { loginOf, loginSecret, nextLogin, rotationIn } from './database-login.ts';

const CONCURRENCY = 2;

/** Gives plugins new passwords of their databases, a day after the last ones. */
export function rotationController(environment: PluginsEnvironment, parts: InstallationParts): Controller {
  const { clock } = environment;
  const { installations, objects, database } = parts;
  const reconcile = async (key: string): Promise<ReconcileResult | void> => {
    const installation = installations.get(key);
    if (!installation || installation.metadata.deletionTimestamp) return undefined;
    const ready = findCondition(installation.status?.conditions, InstallationCondition.DatabaseReady);
    if (ready?.status !== 'True' || ready.reason === InstallationReason.NotNeeded) return undefined;
    const target = parts.target(installation);
    const secret = objects.find(Secret, target.namespace, DATABASE_SECRET);
    if (!secret) return undefined;
    const afterMs = rotationIn(secret, clock.now());
    // Time alone makes a password old.
    if (afterMs > 0) return { afterMs };
    const databases = await database.open();
    const next = nextLogin(loginOf(secret, target), target, clock.now());
    // The role first: whoever reads the Secret can log in. The installation's own step gives the role before its end.
    await databases.setPassword(next.user, next.password);
    await objects.keep(Secret, target.namespace, 'database', [loginSecret(target, databases.access(target.tenant, target.plugin), next)]);
    return undefined;
  };
  return new Controller({ ...environment, name: 'plugin-database-rotation', concurrency: CONCURRENCY, reconcile }).watch(installations);
}
