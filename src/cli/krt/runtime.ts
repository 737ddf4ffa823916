import { RuntimeKind, type Runtime } from '../../api/kruntimes.io/v1alpha1/runtime.ts';
import { ageOf } from '../../kube/age.ts';
import { attempting } from '../terminal/explain.ts';
import { outputFormat, printBlock, printList, printObjects } from '../terminal/print.ts';
import type { Session } from '../terminal/session.ts';
import type { Column } from '../terminal/table.ts';

export async function listRuntimes(session: Session, flags: { allNamespaces?: boolean; output?: string }): Promise<number> {
  const format = outputFormat(flags.output);
  const where = { server: session.cluster.server, namespace: session.namespace };
  const resource = session.cluster.client.resource(RuntimeKind, flags.allNamespaces ? undefined : session.namespace);
  const { items } = await attempting('list Runtimes', where, () => resource.listAll());
  const place = flags.allNamespaces ? 'in any namespace' : `in namespace "${session.namespace}"`;
  await printList(session, format, RuntimeKind, items, columns(new Date(session.clock.now())), `There are no Runtimes ${place}`);
  return 0;
}

export async function getRuntime(session: Session, name: string, flags: { output?: string }): Promise<number> {
  const format = outputFormat(flags.output);
  const where = { server: session.cluster.server, namespace: session.namespace };
  const resource = session.cluster.client.resource(RuntimeKind, session.namespace);
  const runtime = await attempting(`find Runtime "${name}"`, where, () => resource.get(name));
  if (format.kind === 'wide') await printList(session, format, RuntimeKind, [runtime], columns(new Date(session.clock.now())), '');
  else if (format.kind === 'table') describe(session, runtime);
  else await printObjects(session, format, RuntimeKind, runtime);
  return 0;
}

/** Those that follow their queue have as many as they have now. */
const replicasOf = ({ spec, status }: Runtime): string =>
  String(spec.autoscaling === undefined ? (spec.replicas ?? 1) : (status?.replicas ?? 0));
const imageOf = ({ spec }: Runtime): string => String(spec.template.spec.containers[0]?.image ?? '');

function columns(now: Date): Column<Runtime>[] {
  return [
    { header: 'NAME', cell: ({ metadata }) => metadata.name ?? '' },
    { header: 'NAMESPACE', cell: ({ metadata }) => metadata.namespace ?? '' },
    { header: 'IMAGE', cell: imageOf },
    { header: 'REPLICAS', cell: replicasOf },
    { header: 'READY', cell: ({ status }) => String(status?.readyReplicas ?? 0) },
    { header: 'PORT', cell: ({ spec }) => String(spec.port ?? 9091) },
    { header: 'AGE', cell: ({ metadata }) => ageOf(metadata.creationTimestamp, now) },
    { header: 'ISOLATION', wide: true, cell: ({ spec }) => spec.isolation ?? '' },
    { header: 'ACTIVE', wide: true, cell: ({ status }) => status?.activeRuns?.toString() ?? '' },
    { header: 'QUEUED', wide: true, cell: ({ status }) => status?.queuedRuns?.toString() ?? '' },
  ];
}

function describe(session: Session, runtime: Runtime): void {
  const { metadata, spec, status } = runtime;
  const created = metadata.creationTimestamp;
  const capacity = Object.entries(spec.capacity?.resources ?? {}).map(([name, amount]) => `${name}=${amount}`);
  const store = spec.artifactStore;
  printBlock(session, [
    ['Name', metadata.name],
    ['Namespace', metadata.namespace],
    ['Image', imageOf(runtime)],
    ['Replicas', replicasOf(runtime)],
    ['Ready', String(status?.readyReplicas ?? 0)],
    ['Port', String(spec.port ?? 9091)],
    ['Capacity', capacity.join('\n')],
    ['Access', spec.access],
    ['Isolation', spec.isolation],
    [
      'Run limits',
      Object.entries(spec.limits ?? {})
        .map(([name, amount]) => `${name}=${amount}`)
        .join('\n'),
    ],
    ['Autoscaling', spec.autoscaling && `${spec.autoscaling.minReplicas ?? 1} to ${spec.autoscaling.maxReplicas} replicas`],
    ['Artifacts', store && (store.s3 ? `s3 ${store.s3.bucket}` : `volume claim ${store.filesystem?.volumeClaimName}`)],
    ['Active runs', status?.activeRuns?.toString()],
    ['Queued runs', status?.queuedRuns?.toString()],
    ['Created', created && `${created} (${ageOf(created, new Date(session.clock.now()))} ago)`],
    [
      'Conditions',
      status?.conditions
        ?.map(({ type, status, reason, message }) => `${type}=${status} ${reason}${message ? `: ${message}` : ''}`)
        .join('\n'),
    ],
  ]);
}
