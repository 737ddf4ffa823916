import type { Session } from '../terminal/session.ts';
import { changeSpec } from './cluster-call.ts';
import { isReady, waitForCluster } from './wait-for-cluster.ts';

/** `workers=3`. */
export function poolOf(text: string): { name: string; replicas: number } {
  const [, name, replicas] = /^([a-z0-9-]+)=(\d+)$/.exec(text) ?? [];
  if (name === undefined) throw new Error(`Cannot read node pool "${text}": say it like workers=3`);
  return { name, replicas: Number(replicas) };
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
