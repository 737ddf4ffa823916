import { kindOf, type KindDefinition, type ObjectOf } from '../../kind-definition.ts';
import { boolean, conditions, integer, list, object, oneOf, rules, text } from '../../schema-source.ts';
import { CLUSTER_NAME, CLUSTER_NAME_MAX } from './cluster-names.ts';
import { GROUP, VERSION } from './group.ts';

const name = text({ minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' });
const cidr = text({ minLength: 9, maxLength: 18 });
const address = text({ minLength: 7, maxLength: 15 });

const subnet = object(
  { name, cidr },
  {
    /** The router's address in it; absent: the first. */
    gateway: address,
    /** In the mode VLAN: the tag of its frames. */
    vlan: integer({ minimum: 2, maximum: 4094 }),
  },
);

/** Somebody outside who has a key. Its addresses in the VPC are nobody else's. */
const vpnPeer = object(
  { name, publicKey: text({ pattern: '^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$' }), addresses: list(cidr, { minItems: 1, maxItems: 16 }) },
  {},
);

const spec = object(
  { subnets: list(subnet, { minItems: 1, maxItems: 64, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }) },
  {
    /** How its segments reach other machines: inside tunnels, or as tagged frames on the machine's own wire. */
    mode: oneOf(['Overlay', 'VLAN'], {
      default: 'Overlay',
      ...rules({ rule: 'self == oldSelf', message: 'the mode of a VPC does not change; make the tenant another' }),
    }),
    /** Addresses behind a worker, or behind another router on the wire: a site that is connected directly. */
    routes: list(object({ cidr, via: address }, {}), {
      maxItems: 256,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['cidr'],
    }),
    /** Tenants whose VPCs it wants to be connected with; it is, when they want it too. */
    peers: list(name, { maxItems: 64, 'x-kubernetes-list-type': 'set' }),
    /** Whether the world is reached through the machine's address. */
    egress: boolean({ default: true }),
    /** What is reached from outside of it, all at one address that the operator has for that. */
    external: object(
      {},
      {
        /** One of the operator's; absent: any that is free. */
        address,
        /** Services of the type LoadBalancer, with the ports that they have. */
        services: list(object({ cluster: name, namespace: name, name }, {}), { maxItems: 64, 'x-kubernetes-list-type': 'atomic' }),
      },
    ),
    /** A WireGuard gateway at its external address. */
    vpn: object(
      { peers: list(vpnPeer, { maxItems: 256, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }) },
      { port: integer({ minimum: 1, maximum: 65_535, default: 51_820 }) },
    ),
  },
);

const status = object(
  {},
  {
    /** Which of the pairs of transit addresses it has; given once and kept. */
    index: integer(),
    provider: text(),
    /** The two ends of the link between the machine and its router. Its tenant's endpoints are at the machine's. */
    transit: object({ machine: text(), router: text() }, {}),
    subnets: list(
      object(
        { name: text(), cidr: text(), gateway: text(), used: integer(), size: integer() },
        { vlan: integer(), clusters: list(text()) },
      ),
    ),
    /** Workers in all of its subnets. */
    workers: integer(),
    peers: list(object({ name: text(), state: text() }, { message: text() })),
    routes: list(object({ cidr: text(), via: text(), state: text() }, { message: text() })),
    /** Where it is reached from outside, and what became of each Service that should be. */
    external: object(
      { address: text() },
      {
        services: list(
          object({ cluster: text(), namespace: text(), name: text(), state: text() }, { ports: list(text()), message: text() }),
        ),
      },
    ),
    /** What clients have to know of the gateway. */
    vpn: object({ publicKey: text(), endpoint: text() }, {}),
    observedGeneration: integer({ format: 'int64' }),
    conditions: conditions(),
  },
);

export const vpcDefinition = {
  group: GROUP,
  version: VERSION,
  kind: 'Vpc',
  plural: 'vpcs',
  shortNames: [],
  scope: 'Namespaced',
  description:
    'The network of a tenant: subnets for its clusters, a router of their own, and what may pass it. There is one, named like the tenant.',
  spec,
  status,
  columns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Provider', type: 'string', jsonPath: '.status.provider' },
    { name: 'Mode', type: 'string', jsonPath: '.spec.mode' },
    { name: 'Workers', type: 'integer', jsonPath: '.status.workers' },
    { name: 'Machine', type: 'string', jsonPath: '.status.transit.machine' },
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  selectableFields: [],
  nameRules: { pattern: CLUSTER_NAME, maxLength: CLUSTER_NAME_MAX },
} satisfies KindDefinition;

export const VpcKind = kindOf(vpcDefinition);
export type Vpc = ObjectOf<typeof vpcDefinition>;

export const VPC_FINALIZER = 'tenantry.dev/vpc';

/** The conditions of a Vpc, in the order in which they come true. */
export const VpcCondition = {
  /** It has its pair of transit addresses, for life. */
  Numbered: 'Numbered',
  /** It has the address that it is reached at from outside, if it should be. */
  ExternalAddress: 'ExternalAddress',
  /** Packets pass as its spec says. */
  Programmed: 'Programmed',
  /** The VPN gateway answers those who have a key. */
  VpnServed: 'VpnServed',
  /** While it is deleted: nobody lives in it any more, and nothing of it is left. */
  Unused: 'Unused',
  VpnGone: 'VpnGone',
  Gone: 'Gone',
} as const;

export const VpcReason = {
  NoNetworks: 'NoNetworks',
  Numbered: 'Numbered',
  Refused: 'Refused',
  NotMade: 'NotMade',
  NoExternalAddress: 'NoExternalAddress',
  NoProgram: 'NoProgram',
  InUse: 'InUse',
} as const;

/** What became of a wish to be connected, or of a route. */
export const PEER_STATES = ['Peered', 'Waiting', 'Refused'] as const;
export const ROUTE_STATES = ['Active', 'Waiting'] as const;
