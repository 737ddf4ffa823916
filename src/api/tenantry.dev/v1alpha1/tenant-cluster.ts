import { kindOf, type KindDefinition, type ObjectOf } from '../../kind-definition.ts';
import { boolean, conditions, integer, list, object, oneOf, quantity, rules, text, time } from '../../schema-source.ts';
import { CLUSTER_NAME, CLUSTER_NAME_MAX, CONTROL_PLANE_PROVIDERS, KERNEL_ISOLATIONS, MACHINE_PROVIDERS } from './cluster-names.ts';
import { GROUP, VERSION } from './group.ts';

const name = text({ minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' });
const names = list(name, { maxItems: 50, 'x-kubernetes-list-type': 'set' });
const cidr = text({ minLength: 1, maxLength: 43 });

const nodePool = object(
  { name, replicas: integer({ minimum: 0, maximum: 1000 }) },
  {
    cpu: quantity(),
    memory: quantity(),
    disk: quantity(),
    kernelIsolation: oneOf(KERNEL_ISOLATIONS),
    /** Which kind of machine its workers are; absent: the one with the strongest isolation that can be had. */
    machine: oneOf(MACHINE_PROVIDERS),
  },
);

const network = object(
  {},
  {
    /** The subnet of the tenant's VPC that the cluster lives in; absent: the first. */
    subnet: name,
    podCidr: cidr,
    serviceCidr: cidr,
  },
  rules({
    rule: ['subnet', 'podCidr', 'serviceCidr']
      .map((field) => `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`)
      .join(' && '),
    message: 'a cluster stays in the subnet, and keeps the ranges, that it was made with',
  }),
);

export const clusterVersion = text({ maxLength: 20, pattern: '^1\\.[0-9]+(\\.[0-9]+)?$' });
export const nodePools = list(nodePool, { maxItems: 50, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] });

const spec = object(
  {},
  {
    /** Absent: the newest that the operator supports. */
    version: clusterVersion,
    controlPlane: object(
      {},
      { provider: oneOf(CONTROL_PLANE_PROVIDERS), replicas: integer({ minimum: 1, maximum: 5 }) },
      rules(
        {
          rule: "!has(self.provider) || self.provider != 'embedded' || !has(self.replicas) || self.replicas == 1",
          message: 'an embedded control plane has one replica',
        },
        {
          rule: '!has(self.replicas) || self.replicas == 1 || self.replicas == 3',
          message: 'a control plane has one replica or three: a store of two stands still when one is lost, as one of one does',
        },
      ),
    ),
    nodePools,
    network,
    access: object(
      {},
      {
        /** Further names and addresses that its certificate is good for. */
        names: list(text({ minLength: 1, maxLength: 253 }), { maxItems: 20, 'x-kubernetes-list-type': 'set' }),
        /** Raised, the kubeconfigs of before are good for nothing. */
        revision: integer({ minimum: 0 }),
      },
    ),
    /** Requests about its certificates: a number that is raised is one more. */
    certificates: object(
      {},
      {
        /** All certificates are made anew. */
        revision: integer({ minimum: 0 }),
        /** New authorities sign, and a new key of service accounts; those of before stay trusted until what they signed has ended. */
        authorities: integer({ minimum: 0 }),
        /** Authorities of before, and all that they signed, are not trusted any more. */
        revoke: integer({ minimum: 0 }),
      },
    ),
    /** Chosen from those that the policies offer; the mandatory ones come by themselves. */
    addOns: names,
    /** Its processes end, its data stays. */
    sleep: boolean(),
    /** The tenant's namespaces on the host whose Runtimes and Runs work in this cluster. The platform's to write, for `isolation: Cluster`. */
    placement: object({}, { namespaces: list(name, { maxItems: 5000, 'x-kubernetes-list-type': 'set' }) }),
    /** The backups that there should be: one that is missing is made now, one that is no longer named is removed. */
    backups: names,
    /** Brings back the state of a backup, once for each value. */
    restore: object(
      { backup: name },
      {
        /** Whose backup it is; absent: this cluster's. */
        cluster: name,
        /** Another number: the same backup again. */
        request: integer({ minimum: 0 }),
      },
    ),
  },
  {
    // It may be no more than its name.
    default: { sleep: false },
    ...rules({ rule: 'has(self.network) == has(oldSelf.network)', message: 'a network is given to a cluster when it is made, and stays' }),
  },
);

const worker = object(
  { name: text(), pool: text(), address: text(), mac: text() },
  {
    /** Which kind of machine it is, and what stands between its processes and this machine's kernel. */
    provider: text(),
    isolation: text(),
    /** Pending, Joining, Ready, Leaving, Failed, Asleep. */
    phase: text(),
    /** When that began. */
    since: time(),
    /** When one that is asleep was started again. */
    waking: time(),
    message: text(),
    /** What it was made for: one that its pool no longer asks for is replaced. */
    version: text(),
    size: text(),
    /** The edition of authorities that it joined with, and whether it has to join again, because they are revoked. */
    authorities: integer(),
    rejoins: boolean(),
    /** Where its port of the network ends: a tap, or a namespace. Until it is known there is no port. */
    attachment: object({ kind: oneOf(['Tap', 'Namespace']) }, { owner: integer({ format: 'int64' }), path: text() }),
    /** The ranges of its Pods, which are routed through it. */
    podCidrs: list(text()),
  },
);

const loadBalancer = object(
  {
    /** Its namespace and name: `web/front`. */
    service: text(),
    address: text(),
    ports: list(
      object({ protocol: oneOf(['tcp', 'udp']), port: integer() }, { backends: list(object({ address: text(), port: integer() }, {})) }),
    ),
  },
  {
    /** Who may speak to it; absent: everybody. */
    sources: list(text()),
    /** Whether a client always gets to the same worker. */
    sticky: boolean(),
  },
);

const status = object(
  {},
  {
    /** Pending, Creating, Changing, Ready, Asleep, Restoring, Failed, Deleting. */
    phase: text(),
    /** What is being done. */
    progress: text(),
    provider: text(),
    /** The one that it runs. */
    version: text(),
    /** The one that it is taken to, and why that did not come up: then it goes on with the one that it has. Absent: it has what it is to have. */
    upgrade: object({ version: text() }, { failed: text() }),
    endpoint: text(),
    /** Its API servers: how many there are to be, how many are ready, and where they are. */
    controlPlane: object({ replicas: integer(), ready: integer() }, { spread: oneOf(['OneMachine']) }),
    /** The Secret with the kubeconfig of its administrators. */
    kubeconfig: text(),
    certificatesExpire: time(),
    /** Who signs its certificates. */
    authorities: object(
      {
        /** The first ones, the second ... */
        edition: integer(),
        expire: time(),
      },
      {
        /** Those of before are trusted too, until then. */
        formerTrustedUntil: time(),
      },
    ),
    addOns: list(text()),
    /** Its place in the VPC of its tenant. */
    network: object(
      { vpc: text(), subnet: text(), cidr: text(), gateway: text(), address: text() },
      {
        /** The ranges of its Pods and Services. */
        podCidr: text(),
        serviceCidr: text(),
        /** What its workers reach of the platform beside the endpoint: the tunnel, names, images. `address` is where, if not at the network's own. */
        listeners: list(object({ name: text(), protocol: oneOf(['tcp', 'udp']), port: integer() }, { address: text() })),
      },
    ),
    /** Those that there are, and those that are being made: what is not here has nothing of a worker. */
    workers: list(worker, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
    /** Addresses of its Services of the type LoadBalancer, in its subnet, and who answers for each: written down before it is made. */
    loadBalancers: list(loadBalancer, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['service'] }),
    /** What the policies allow the tenant, and what it has. */
    bounds: object(
      {},
      { policies: list(text()), clusters: text(), workers: text(), cpu: text(), memory: text(), disk: text(), versions: list(text()) },
    ),
    backups: list(object({ name: text(), time: time(), bytes: integer({ format: 'int64' }) }, {})),
    /** What became of `spec.placement`. */
    placement: object(
      {},
      {
        /** Placing, Placed, Draining, Empty. */
        phase: text(),
        /** How many Runs have yet to end where they began. */
        left: integer(),
        /** The generation of the spec that this is about. */
        observedGeneration: integer({ format: 'int64' }),
      },
    ),
    /** The last restore that was done. */
    restored: object({ backup: text() }, { cluster: text(), request: integer() }),
    observedGeneration: integer({ format: 'int64' }),
    /** One for each step of making it and of taking it away, and those that only tell. */
    conditions: conditions({ maxItems: 32 }),
  },
);

export const tenantClusterDefinition = {
  group: GROUP,
  version: VERSION,
  kind: 'TenantCluster',
  plural: 'tenantclusters',
  shortNames: ['tcl'],
  scope: 'Namespaced',
  description: 'A whole cluster of a tenant: its own control plane, keys and store, inside the bounds that the operator set.',
  spec,
  status,
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Version', type: 'string', jsonPath: '.status.version' },
    { name: 'Control-Plane', type: 'string', jsonPath: '.status.provider' },
    { name: 'Endpoint', type: 'string', jsonPath: '.status.endpoint' },
    { name: 'Within-Bounds', type: 'string', jsonPath: '.status.conditions[?(@.type=="WithinBounds")].status', priority: 1 },
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  selectableFields: [],
  nameRules: { pattern: CLUSTER_NAME, maxLength: CLUSTER_NAME_MAX },
} satisfies KindDefinition;

export const TenantClusterKind = kindOf(tenantClusterDefinition);
export type TenantCluster = ObjectOf<typeof tenantClusterDefinition>;
