import type { TenantCluster } from '../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Session } from '../terminal/session.ts';
import { changeSpec } from './cluster-call.ts';
import { isReady, waitForCluster } from './wait-for-cluster.ts';

export interface RotateFlags {
  certificates?: boolean;
  authorities?: boolean;
  revoke?: boolean;
  wait?: boolean;
}

/** Asks for new certificates, for new authorities, or for an end of those of before. */
export async function rotate(session: Session, name: string, flags: RotateFlags): Promise<number> {
  const doing = `rotate the certificates of cluster "${name}"`;
  const changed = await changeSpec(session, doing, name, (cluster) => {
    if (flags.revoke === true && flags.authorities !== true && cluster.status?.authorities?.formerTrustedUntil === undefined) {
      throw new Error(
        `Cannot revoke authorities of cluster "${name}": those that sign are the only ones; add --authorities to replace them, which ends all that they signed`,
      );
    }
    return { certificates: rotationOf(cluster, flags) };
  });
  if (flags.wait === false) {
    session.out(`cluster ${name} is given ${wordsOf(flags)}\n`);
    return 0;
  }
  const { generation = 0 } = changed.metadata;
  const cluster = await waitForCluster(session, name, (now) => isReady(now) && (now.status?.observedGeneration ?? 0) >= generation);
  const { certificatesExpire, authorities } = cluster?.status ?? {};
  session.out(`cluster ${name} has ${wordsOf(flags)}; the first certificate ends at ${certificatesExpire}\n`);
  if (authorities?.formerTrustedUntil !== undefined) {
    session.err(
      `Authorities of before are trusted until ${authorities.formerTrustedUntil}. Hand out new kubeconfigs (tenantry cluster kubeconfig ${name}), then end that with --revoke.\n`,
    );
  } else if (flags.revoke === true) {
    session.err('Kubeconfigs, node certificates and service account tokens of before are good for nothing any more.\n');
  }
  return 0;
}

/** One more request of each kind that is named; without any, new certificates. */
export function rotationOf({ spec }: Pick<TenantCluster, 'spec'>, flags: RotateFlags): Record<string, number> {
  const { revision = 0, authorities = 0, revoke = 0 } = spec.certificates ?? {};
  const isCertificates = flags.certificates === true || (flags.authorities !== true && flags.revoke !== true);
  return {
    ...(isCertificates ? { revision: revision + 1 } : {}),
    ...(flags.authorities === true ? { authorities: authorities + 1 } : {}),
    ...(flags.revoke === true ? { revoke: revoke + 1 } : {}),
  };
}

function wordsOf({ authorities, revoke }: RotateFlags): string {
  if (authorities === true) return revoke === true ? 'new authorities, and none of before' : 'new authorities';
  return revoke === true ? 'no authorities of before' : 'new certificates';
}
