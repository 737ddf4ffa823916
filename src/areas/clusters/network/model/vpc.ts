/** How the segments of a VPC reach other machines: inside Geneve tunnels, or as tagged frames on the machine's own wire. */
export type NetworkMode = 'Overlay' | 'VLAN';

export interface Subnet {
  name: string;
  cidr: string;
  /** The router's address in it. */
  gateway: string;
  /** In the mode VLAN: the tag of its frames. */
  vlan?: number;
}

/** Where the other end of a worker's port is: a tap that a guest opens (`owner` may, without root), or a namespace that gets a link called eth0. */
export type Attachment = { kind: 'Tap'; owner?: number } | { kind: 'Namespace'; path: string };

/** A worker's place in a subnet. Nothing but its own addresses gets in through it. */
export interface Port {
  name: string;
  subnet: string;
  address: string;
  mac: string;
  attachment: Attachment;
}

export interface Listener {
  protocol: 'tcp' | 'udp';
  port: number;
}

/** A place on the platform's side that the tenant may reach: its own API server, tunnel, images, names. */
export interface Endpoint extends Listener {
  address: string;
}

/** Addresses behind a worker: those of its Pods, or of a site that is connected through it. */
export interface StaticRoute {
  cidr: string;
  via: string;
}

/** A worker that answers for a load balancer. */
export interface Backend {
  address: string;
  port: number;
}

export interface BalancedPort extends Listener {
  /** None: whoever connects is refused. */
  backends: readonly Backend[];
}

/** An address of a segment that stands for workers. Who is in the VPC reaches it, and its peers do. */
export interface LoadBalancer {
  name: string;
  subnet: string;
  address: string;
  ports: readonly BalancedPort[];
  /** Who may speak to it; empty: everybody who gets there. */
  sources: readonly string[];
  /** Whether a client always gets to the same worker. */
  sticky: boolean;
  /** Where it is reached from outside of the VPC too: an address of nobody else, which the machine sends to the router. */
  external?: string;
}

/** A gateway for clients outside, who become part of the VPC with the addresses that their keys are good for. */
export interface VpnGateway {
  /** Where clients find it. Nothing else of the router answers there. */
  external: string;
  port: number;
  /** Addresses of clients: all of them, and of nobody else. */
  clients: readonly string[];
}

/** Everything that a VPC should be. */
export interface Vpc {
  /** The tenant's name. */
  name: string;
  /** Which of the pairs of transit addresses it has; given once and kept. */
  index: number;
  mode: NetworkMode;
  subnets: readonly Subnet[];
  ports: readonly Port[];
  endpoints: readonly Endpoint[];
  /** What listens in the router itself. */
  services: readonly Listener[];
  routes: readonly StaticRoute[];
  /** The VPCs that it wants to be connected with; it is, when they want it too. */
  peers: readonly string[];
  /** Whether the world is reached through the machine's address. */
  egress: boolean;
  loadBalancers?: readonly LoadBalancer[];
  vpn?: VpnGateway;
}

/** What all VPCs of an instance have in common. */
export interface Platform {
  /** Links between the machine and the routers take their addresses from here. */
  transit: string;
  /** No tenant reaches these through its router, its endpoints aside. */
  blocked: readonly string[];
  /** Ranges of the operator for what tenants have outside of their VPCs; absent: there are none. */
  external?: readonly string[];
}

/** All VPCs of an instance: what is not here is taken away. */
export interface NetworkPlan {
  platform: Platform;
  vpcs: readonly Vpc[];
}

/** Ranges that are nobody's on the internet: what a machine can reach of them belongs to the platform or to other tenants. */
const NEVER_THE_WORLD = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
] as const;

const TRANSIT = '100.64.0.0/16';

/** `addresses` are those of the platform that the world can reach too. */
export function platformOf(addresses: readonly string[] = [], transit: string = TRANSIT): Platform {
  return { transit, blocked: [...NEVER_THE_WORLD, ...addresses] };
}
