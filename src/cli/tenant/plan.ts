import { TENANT_LABEL } from '../../api/tenantry.dev/v1alpha1/names.ts';
import { planFacts } from '../../api/tenantry.dev/v1alpha1/plan-facts.ts';
import { planFor, type TenantPlan, type WorkloadMove } from '../../api/tenantry.dev/v1alpha1/plan.ts';
import { TenantKind } from '../../api/tenantry.dev/v1alpha1/tenant.ts';
import { Namespace, Node, Pod, PodDisruptionBudget } from '../../client/kinds.ts';
import { placementFacts } from './placement-facts.ts';
import { attempting } from '../terminal/explain.ts';
import { printBlock } from '../terminal/print.ts';
import type { Session } from '../terminal/session.ts';
import { formatTable } from '../terminal/table.ts';
import { isolationOf } from './tenant-request.ts';

export interface PlanFlags {
  isolation?: string;
  node?: string[];
  output?: string;
}

/** What it would take to give a tenant another isolation; changes nothing. Exits with 1 when something stands in the way. */
export async function plan(session: Session, name: string, flags: PlanFlags): Promise<number> {
  const where = { server: session.cluster.server, namespace: session.namespace };
  const made = await attempting(`plan for tenant "${name}"`, where, () => makePlan(session, name, flags));
  if (flags.output === 'json') session.out(`${JSON.stringify(made, null, 4)}\n`);
  else describe(session, made);
  return made.obstacles.length > 0 ? 1 : 0;
}

async function makePlan({ cluster: { client } }: Session, name: string, flags: PlanFlags): Promise<TenantPlan> {
  const tenant = await client.resource(TenantKind).get(name);
  const [nodes, pods, budgets, namespaces] = await Promise.all([
    client.resource(Node).list(),
    client.resource(Pod).list(),
    client.resource(PodDisruptionBudget).list(),
    client.metadata(Namespace).list(),
  ]);
  const tenants = new Map(namespaces.items.map(({ metadata }) => [metadata.name!, metadata.labels?.[TENANT_LABEL]]));
  const facts = planFacts({
    nodes: nodes.items,
    pods: pods.items,
    disruptionBudgets: budgets.items,
    tenantOf: (namespace) => tenants.get(namespace),
    isPlatform: (namespace) => namespace.startsWith('kube-') || namespace === 'tenantry-system',
  });
  const wanted = {
    isolation: flags.isolation === undefined ? tenant.spec.isolation : isolationOf(flags.isolation),
    nodePool: flags.node ? { names: flags.node } : tenant.spec.nodePool,
  };
  const crosses = wanted.isolation === 'Cluster' || tenant.status?.isolation === 'Cluster';
  const placement = crosses ? await placementFacts(client, tenant, namespaces.items, pods.items) : undefined;
  return planFor(tenant, wanted, { ...facts, placement });
}

function describe(session: Session, made: TenantPlan): void {
  const nodes = (names: string[]) => (names.length > 0 ? names.join('\n') : undefined);
  printBlock(session, [
    ['Tenant', made.tenant],
    ['Isolation', made.from === made.to ? made.to : `${made.from} -> ${made.to}`],
    ['Pods', `${made.pods}, asking for cpu ${made.requests.cpu}, memory ${made.requests.memory}`],
    ['Takes nodes', nodes(made.nodes.take)],
    ['Keeps nodes', nodes(made.nodes.keep)],
    ['Gives back', nodes(made.nodes.release)],
    ['Cost', made.to === 'DedicatedNodes' ? `cpu ${made.capacity.cpu}, memory ${made.capacity.memory} for this tenant alone` : undefined],
    ['Cluster', made.placement?.cluster],
    ['Namespaces', made.placement?.namespaces.join('\n')],
    ['Runtimes', made.placement?.runtimes.join('\n')],
    ['Plugins', made.placement?.plugins.join('\n')],
    ['Runs', made.placement && `${made.placement.moving} move, ${made.placement.ending} end where they are`],
    [made.placement ? 'Mind' : 'Slower', made.warnings.join('\n')],
    ['In the way', made.obstacles.join('\n')],
  ]);
  printMoves(session, 'Moves', made.moves);
  printMoves(session, 'Makes room', made.displaced);
}

function printMoves(session: Session, title: string, moves: readonly WorkloadMove[]): void {
  if (moves.length === 0) return;
  session.out(`\n${title}:\n`);
  const rows = moves.map(({ namespace, kind, name, pods, heldBy }) => [namespace, `${kind}/${name}`, String(pods.length), heldBy ?? '']);
  for (const line of formatTable(['NAMESPACE', 'WORKLOAD', 'PODS', 'HELD BY'], rows, { isColoured: session.isColoured }))
    session.out(`  ${line}\n`);
}
