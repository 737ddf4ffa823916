import { HRQ_LABEL } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { toResourceList } from '../../../../kube/resource-list.ts';
import type { AdmissionHandler } from '../../../../runtime/admission/review.ts';
import { SharedReservations } from '../../quota/reservations.ts';
import type { TenancyEnvironment } from '../../tenancy-environment.ts';

/** Who kube-apiserver's quota admission writes as; what the quota controller counts is only a report. */
const QUOTA_ADMISSION = 'system:apiserver';

/** kube-apiserver charges a namespace's quota by writing its status: the moment in which the tree has its say. */
export function quotaStatusHandler({ client, clock, forest, quotas }: TenancyEnvironment): AdmissionHandler {
  const reservations = new SharedReservations(client, clock, quotas);
  return async ({ userInfo, object, namespace, dryRun }) => {
    if (userInfo.username !== QUOTA_ADMISSION || object?.metadata.labels?.[HRQ_LABEL] !== 'true') return { allowed: true };
    const name = object.metadata.name!;
    const used = toResourceList(object.status?.used);
    const root = forest.ancestors(namespace!).at(-1) ?? namespace!;
    const message = dryRun
      ? quotas.ledger.excess(namespace!, name, used)?.message
      : await reservations.reserve(root, namespace!, name, used);
    return message === undefined ? { allowed: true } : { allowed: false, message };
  };
}
