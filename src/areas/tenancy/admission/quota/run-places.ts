import { forbiddenError } from '../../../../kube/status.ts';
import type { AdmissionHandler } from '../../../../runtime/admission/review.ts';
import { RunReservations } from '../../quota/run-reservations.ts';
import type { TenancyEnvironment } from '../../tenancy-environment.ts';

/** Gives every new Run a place, or none: the number of those that have not ended never exceeds what the tree may have. */
export function runPlacesHandler({ client, clock, forest, runs }: TenancyEnvironment): AdmissionHandler {
  const reservations = new RunReservations(client, clock, runs);
  return async ({ uid, name, namespace, object, resource, dryRun }) => {
    if (!runs.isLimited(namespace!)) return { allowed: true };
    await runs.ready(namespace!);
    const root = forest.ancestors(namespace!).at(-1) ?? namespace!;
    const message = dryRun ? runs.refusal(namespace!) : await reservations.reserve(root, namespace!, object?.metadata.uid ?? uid);
    if (message === undefined) return { allowed: true };
    throw forbiddenError({ group: resource.group, resource: resource.resource }, name ?? object?.metadata.name ?? '', message);
  };
}
