import { VpcKind, VpcReason, type Vpc } from '../../api/tenantry.dev/v1alpha1/vpc.ts';
import { findCondition } from '../../kube/conditions.ts';
import { calling } from '../cluster/cluster-call.ts';
import type { Session } from '../terminal/session.ts';
import { vpcsOf } from './vpc-call.ts';

export interface CreateVpcFlags {
  subnet: string[];
  peer?: string[];
  egress?: boolean;
  wait?: boolean;
}

/** Makes the VPC of a tenant, and waits until packets pass. */
export async function create(session: Session, flags: CreateVpcFlags): Promise<number> {
  const tenant = session.namespace;
  const spec: Vpc['spec'] = { subnets: flags.subnet.map(subnetOf), ...(flags.peer ? { peers: flags.peer } : {}) };
  if (flags.egress === false) spec.egress = false;
  const vpcs = vpcsOf(session);
  const made = await calling(session, `create the VPC of tenant "${tenant}"`, () => vpcs.create({ metadata: { name: tenant }, spec }));
  if (flags.wait === false) {
    session.out(`VPC ${tenant} is being made\n`);
    return 0;
  }
  const ready = await waitUntilReady(session, made);
  session.out(
    `VPC ${tenant} is ready (${ready.status?.provider}): ${spec.subnets.map(({ name, cidr }) => `${name} ${cidr}`).join(', ')}\n`,
  );
  return 0;
}

async function waitUntilReady(session: Session, made: Vpc): Promise<Vpc> {
  const { name, namespace, resourceVersion } = made.metadata;
  const vpcs = session.cluster.client.resource(VpcKind, namespace);
  for await (const update of vpcs.watch({ fieldSelector: `metadata.name=${name}`, resourceVersion })) {
    if (update.type === 'DELETED') throw new Error(`Cannot wait for VPC "${name}": it was deleted meanwhile; make it again`);
    if (!('object' in update)) continue;
    const ready = findCondition(update.object.status?.conditions, 'Ready');
    if (ready?.status === 'True') return update.object;
    if (ready?.reason === VpcReason.Refused || ready?.reason === VpcReason.NoNetworks) throw new Error(ready.message);
  }
  throw new Error(`Cannot wait for VPC "${name}": the connection ended; \`tenantry vpc get\` shows how it is`);
}

/** `web=10.5.0.0/24`, with a VLAN id behind it in the mode VLAN: `web=10.5.0.0/24@100`. */
export function subnetOf(text: string): Vpc['spec']['subnets'][number] {
  const [, name, cidr, vlan] = /^([^=]+)=([^@]+)(?:@(\d+))?$/.exec(text) ?? [];
  if (name === undefined) throw new Error(`Cannot make subnet "${text}": it is not a name and a range; say it like web=10.5.0.0/24`);
  return { name, cidr, ...(vlan === undefined ? {} : { vlan: Number(vlan) }) };
}
