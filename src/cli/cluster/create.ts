import { TenantClusterKind, type TenantCluster } from '../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { isForPeople, outputFormat, printObjects } from '../terminal/print.ts';
import type { Session } from '../terminal/session.ts';
import { formatTable } from '../terminal/table.ts';
import { calling, clustersOf } from './cluster-call.ts';
import { poolOf } from './scale.ts';
import { isReady, waitForCluster } from './wait-for-cluster.ts';

export interface CreateFlags {
  kubernetes?: string;
  controlPlane?: string;
  replicas?: string;
  addOn?: string[];
  name?: string[];
  pool?: string[];
  subnet?: string;
  output?: string;
  wait?: boolean;
}

/** Makes a cluster and waits until it can be used. */
export async function create(session: Session, name: string, flags: CreateFlags): Promise<number> {
  const format = outputFormat(flags.output);
  const started = session.clock.monotonic();
  const made = await calling(session, `create cluster "${name}"`, () =>
    clustersOf(session).create({ metadata: { name }, spec: specOf(flags) }),
  );
  const cluster = flags.wait === false ? made : ((await waitForCluster(session, name, isReady)) ?? made);
  if (!isForPeople(format)) {
    await printObjects(session, format, TenantClusterKind, cluster);
    return 0;
  }
  if (flags.wait === false) {
    session.out(`cluster ${name} is being made\n`);
    return 0;
  }
  const seconds = ((session.clock.monotonic() - started) / 1000).toFixed(1);
  const { version, endpoint, provider } = cluster.status ?? {};
  session.out(`cluster ${name} is ready at ${endpoint} (Kubernetes ${version}, ${provider}, ${seconds} s)\n`);
  tellNext(session, name);
  return 0;
}

export function tellNext(session: Session, name: string): void {
  const where = `-n ${session.namespace}`;
  const lines = formatTable(
    [`  tenantry cluster kubeconfig ${name} ${where} > ${name}.kubeconfig`, 'to be its administrator'],
    [
      [`  kubectl --kubeconfig ${name}.kubeconfig get namespaces`, 'to look around in it'],
      [`  tenantry cluster sleep ${name} ${where}`, 'to stop it and keep its data'],
    ],
  );
  session.err(['', ...lines, ''].join('\n'));
}

export function replicasOf(text: string): number {
  if (text !== '1' && text !== '3')
    throw new Error(`Cannot use --replicas "${text}": a control plane has 1 or 3 replicas; give one of them`);
  return Number(text);
}

function specOf({ kubernetes, controlPlane, replicas, addOn, name, pool, subnet }: CreateFlags): TenantCluster['spec'] {
  const spec: TenantCluster['spec'] = {};
  if (kubernetes !== undefined) spec.version = kubernetes.replace(/^v/, '');
  if (controlPlane !== undefined) spec.controlPlane = { provider: controlPlane as 'embedded' };
  if (replicas !== undefined) spec.controlPlane = { ...spec.controlPlane, replicas: replicasOf(replicas) };
  if (addOn) spec.addOns = addOn;
  if (name) spec.access = { names: name };
  if (pool) spec.nodePools = pool.map(poolOf);
  if (subnet !== undefined) spec.network = { subnet };
  return spec;
}
