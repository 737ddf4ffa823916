import { VpcKind, type Vpc } from '../../api/tenantry.dev/v1alpha1/vpc.ts';
import { ageOf } from '../../kube/age.ts';
import { isForPeople, outputFormat, printBlock, printObjects } from '../terminal/print.ts';
import type { Session } from '../terminal/session.ts';
import { formatTable, type Cell } from '../terminal/table.ts';
import { vpcOf } from './vpc-call.ts';

/** All there is to know of the VPC of a tenant. */
export async function get(session: Session, flags: { output?: string }): Promise<number> {
  const format = outputFormat(flags.output);
  const vpc = await vpcOf(session, 'show the VPC');
  if (!isForPeople(format)) await printObjects(session, format, VpcKind, vpc);
  else describe(session, vpc);
  return 0;
}

function describe(session: Session, { metadata, spec, status }: Vpc): void {
  printBlock(session, [
    ['Tenant', metadata.namespace],
    ['Provider', status?.provider],
    ['Mode', spec.mode],
    ['Egress', spec.egress === false ? 'none: the world is not reached from it' : "through the machine's address"],
    ['Machine', status?.transit && `${status.transit.machine}, where its endpoints are`],
    ['Router', status?.transit?.router],
    ['Age', ageOf(metadata.creationTimestamp, new Date(session.clock.now()))],
  ]);
  const table = (title: string, header: string[], rows: (string | Cell)[][]) => {
    if (rows.length === 0) return;
    session.out(`\n${title}:\n`);
    for (const line of formatTable(header, rows, { isColoured: session.isColoured })) session.out(`  ${line}\n`);
  };
  const isTagged = (status?.subnets ?? []).some(({ vlan }) => vlan !== undefined);
  table(
    'Subnets',
    ['NAME', 'RANGE', 'GATEWAY', ...(isTagged ? ['VLAN'] : []), 'WORKERS', 'CLUSTERS'],
    (status?.subnets ?? []).map(({ name, cidr, gateway, vlan, used, size, clusters }) => [
      name,
      cidr,
      gateway,
      ...(isTagged ? [String(vlan ?? '')] : []),
      `${used} of ${size}`,
      clusters?.join(', ') ?? '',
    ]),
  );
  table(
    'Peers',
    ['TENANT', 'STATE', 'MESSAGE'],
    (status?.peers ?? []).map(({ name, state, message }) => [name, stateCell(state, 'Peered'), message ?? '']),
  );
  table(
    'Routes',
    ['RANGE', 'VIA', 'STATE', 'MESSAGE'],
    (status?.routes ?? []).map(({ cidr, via, state, message }) => [cidr, via, stateCell(state, 'Active'), message ?? '']),
  );
  table(
    'Conditions',
    ['TYPE', 'STATUS', 'REASON', 'MESSAGE'],
    (status?.conditions ?? []).map((each) => [each.type, stateCell(each.status, 'True'), each.reason, each.message]),
  );
}

function stateCell(state: string, good: string): Cell {
  return { text: state, colour: state === good ? 'green' : 'yellow' };
}
