import type { TenantCluster } from '../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Session } from '../terminal/session.ts';
import { changeSpec } from './cluster-call.ts';
import { isReady, waitForCluster } from './wait-for-cluster.ts';

type NodePool = NonNullable<TenantCluster['spec']['nodePools']>[number];

const WISHES = ['cpu', 'memory', 'disk', 'machine', 'kernelIsolation'] as const;

/** `workers=3`, and what its workers should be: `workers=3,cpu=2,memory=1Gi,machine=tcg`. */
export function poolOf(text: string): NodePool {
  const [head, ...rest] = text.split(',');
  const [, name, replicas] = /^([a-z0-9-]+)=(\d+)$/.exec(head) ?? [];
  const wishes = rest.map((part) => part.split('=', 2));
  const isKnown = wishes.every(([wish, value]) => (WISHES as readonly string[]).includes(wish) && value);
  if (name === undefined || !isKnown) {
    throw new Error(
      `Cannot read node pool "${text}": say it like workers=3, or workers=3,${WISHES.map((wish) => `${wish}=...`).join(',')}`,
    );
  }
  return { name, replicas: Number(replicas), ...Object.fromEntries(wishes) };
}

/** Changes how many workers the pools of a cluster have. */
export async function scale(session: Session, name: string, pools: string[], flags: { wait?: boolean }): Promise<number> {
  const wanted = pools.map(poolOf);
  await changeSpec(session, `scale cluster "${name}"`, name, ({ spec }) => {
    const others = (spec.nodePools ?? []).filter((pool) => !wanted.some((each) => each.name === pool.name));
    const changed = wanted.map((pool) => ({ ...spec.nodePools?.find((each) => each.name === pool.name), ...pool }));
    return { nodePools: [...others, ...changed] };
  });
  if (flags.wait !== false) await waitForCluster(session, name, isReady);
  session.out(`cluster ${name} scaled: ${pools.join(', ')}\n`);
  return 0;
}
