import { ClusterReason } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { ConditionStatus } from '../../../../kube/conditions.ts';
import { formatTime } from '../../../../kube/time.ts';
import type { RunningControlPlane } from '../../control-plane/control-planes.ts';
import type { RotationReason } from '../../control-plane/process/model/rotation-step.ts';

type Status = NonNullable<TenantCluster['status']>;
type Keys = Pick<RunningControlPlane, 'certificatesExpire' | 'authorities'>;

const text = (ms: number) => formatTime(new Date(ms));

/** What the status says of the certificates. */
export function certificatesStatus({ certificatesExpire, authorities }: Keys): Pick<Status, 'certificatesExpire' | 'authorities'> {
  if (authorities === undefined) return { certificatesExpire: text(certificatesExpire) };
  const { edition, ends, formersUntil } = authorities;
  return {
    certificatesExpire: text(certificatesExpire),
    authorities: { edition, expire: text(ends), ...(formersUntil === undefined ? {} : { formerTrustedUntil: text(formersUntil) }) },
  };
}

/** Whether what it shows and trusts is good now. */
export function certificatesCondition(keys: Keys, now: number): { status: ConditionStatus; reason: string; message: string } {
  const { certificatesExpire, authorities } = keys;
  if (certificatesExpire <= now) {
    return { status: 'False', reason: ClusterReason.Expired, message: `a certificate ended at ${text(certificatesExpire)}` };
  }
  if (authorities !== undefined && authorities.begins > now) {
    const message = `the authorities begin at ${text(authorities.begins)}: the clock is wrong, or was when they were made; set it, or rotate the authorities`;
    return { status: 'False', reason: ClusterReason.NotYetValid, message };
  }
  const first = `the first certificate ends at ${text(certificatesExpire)} and is renewed long before`;
  if (authorities === undefined) return { status: 'True', reason: ClusterReason.Valid, message: first };
  const { ends, formersUntil } = authorities;
  const message = `${first}; the authorities end at ${text(ends)}`;
  if (formersUntil === undefined) return { status: 'True', reason: ClusterReason.Valid, message };
  return {
    status: 'True',
    reason: ClusterReason.Overlapping,
    message: `${message}; those of before are trusted until ${text(formersUntil)}`,
  };
}

const WHY: Record<RotationReason, string> = {
  Asked: 'as was asked for',
  Expiring: 'because those of before near their end',
  Expired: 'because those of before had ended',
};

/** What is to be told of a change; undefined: nothing has changed, or it is new. */
export function certificatesEvent(before: Status | undefined, now: Keys): { reason: string; message: string } | undefined {
  const { authorities } = now;
  const after = certificatesStatus(now);
  const formerly = before?.authorities;
  if (formerly && authorities && authorities.edition > formerly.edition) {
    const why = authorities.reason === undefined ? '' : `, ${WHY[authorities.reason]}`;
    const trust = after.authorities?.formerTrustedUntil;
    const former = trust === undefined ? 'those of before are not trusted any more' : `those of before are trusted until ${trust}`;
    return { reason: 'AuthoritiesRotated', message: `new authorities and a new key of service accounts sign${why}; ${former}` };
  }
  if (formerly?.formerTrustedUntil !== undefined && after.authorities && after.authorities.formerTrustedUntil === undefined) {
    return { reason: 'AuthoritiesForgotten', message: 'authorities of before, and all that they signed, are not trusted any more' };
  }
  if (before?.certificatesExpire !== undefined && before.certificatesExpire !== after.certificatesExpire) {
    return { reason: 'CertificatesRenewed', message: `certificates were renewed; the first ends at ${after.certificatesExpire}` };
  }
  return undefined;
}
