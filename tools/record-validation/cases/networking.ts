import type { Json } from '../../../src/kube/object.ts';
import type { Base, Change } from '../case.ts';
import { caseSet, clusterScoped, namespaced, STATUS, UPDATE, type Row } from './build.ts';

/** What the server adds after validation of a create. */
const ALLOCATED = ['/spec/clusterIP', '/spec/clusterIPs', '/spec/ipFamilies', '/spec/ipFamilyPolicy'];
const forCreate = (...more: string[]): Change => Object.fromEntries([...ALLOCATED, ...more].map((pointer) => [pointer, null]));
const service = (name: string, spec: Json, ...allocated: string[]): Base => ({
  ...namespaced('', 'v1', 'services', 'Service', name, { spec }),
  forCreate: forCreate(...allocated),
});
const port = (value: Json): Json => ({ protocol: 'TCP', targetPort: value.port, ...value });
const ports = (...list: Json[]): Change => ({ '/spec/ports': list.map(port) });
const networking = (resource: string, kind: string, name: string, spec: Json): Base =>
  namespaced('networking.k8s.io', 'v1', resource, kind, name, { spec });
const backend = { service: { name: 's', port: { number: 80 } } };

const bases: Record<string, Base> = {
  service: service('svc', { clusterIP: '10.0.0.101', selector: { app: 'x' }, ports: [{ port: 80 }] }),
  headless: {
    ...service('headless', { clusterIP: 'None', ports: [{ port: 80 }] }),
    forCreate: { '/spec/ipFamilies': null, '/spec/ipFamilyPolicy': null },
  },
  nodePort: service('np', { clusterIP: '10.0.0.102', type: 'NodePort', ports: [{ port: 80, nodePort: 30102 }] }, '/spec/ports/0/nodePort'),
  balancer: service(
    'lb',
    { clusterIP: '10.0.0.103', type: 'LoadBalancer', loadBalancerClass: 'example.com/x', ports: [{ port: 80, nodePort: 30103 }] },
    '/spec/ports/0/nodePort',
  ),
  external: { ...namespaced('', 'v1', 'services', 'Service', 'ext', { spec: { type: 'ExternalName', externalName: 'example.com' } }) },
  endpoints: namespaced('', 'v1', 'endpoints', 'Endpoints', 'ep', {
    subsets: [{ addresses: [{ ip: '10.1.1.1' }], ports: [{ port: 80 }] }],
  }),
  slice: namespaced('discovery.k8s.io', 'v1', 'endpointslices', 'EndpointSlice', 'slice', {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.1.1'] }],
    ports: [{ name: 'a', port: 80 }],
  }),
  ingress: networking('ingresses', 'Ingress', 'ing', {
    rules: [{ host: 'example.com', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
  }),
  ingressClass: clusterScoped('networking.k8s.io', 'v1', 'ingressclasses', 'IngressClass', 'ic', { spec: { controller: 'example.com/c' } }),
  policy: networking('networkpolicies', 'NetworkPolicy', 'np', { podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] }),
  address: clusterScoped('networking.k8s.io', 'v1', 'ipaddresses', 'IPAddress', '192.168.1.1', {
    spec: { parentRef: { resource: 'services', name: 'a', namespace: 'b' } },
  }),
  cidr: clusterScoped('networking.k8s.io', 'v1', 'servicecidrs', 'ServiceCIDR', 'cidr', { spec: { cidrs: ['192.168.0.0/24'] } }),
};

const services: Row[] = [
  ['valid', 'service', {}],
  ['no ports', 'service', { '/spec/ports': [] }],
  ['port out of range', 'service', ports({ port: 0, targetPort: 1 }, { name: 'b', port: 99999 })],
  ['ports without names', 'service', ports({ port: 1 }, { port: 2 })],
  ['port names twice', 'service', ports({ name: 'a', port: 1 }, { name: 'a', port: 2 }, { name: 'A', port: 3 })],
  ['same port twice', 'service', ports({ name: 'a', port: 1 }, { name: 'b', port: 1 })],
  ['unknown protocol', 'service', ports({ port: 1, protocol: 'ICMP' })],
  ['bad target port', 'service', ports({ port: 1, targetPort: 'A' })],
  ['bad app protocol', 'service', ports({ port: 1, appProtocol: 'a b' })],
  ['node port of a cluster ip', 'service', ports({ port: 1, nodePort: 30000 })],
  ['bad selector', 'service', { '/spec/selector': { a: '-' } }],
  ['unknown affinity', 'service', { '/spec/sessionAffinity': 'Foo' }],
  [
    'affinity timeout',
    'service',
    { '/spec/sessionAffinity': 'ClientIP', '/spec/sessionAffinityConfig': { clientIP: { timeoutSeconds: 100000 } } },
  ],
  ['unknown type', 'service', { '/spec/type': 'Foo', '/spec/internalTrafficPolicy': null }],
  ['bad cluster ip', 'service', { '/spec/clusterIP': 'x', '/spec/clusterIPs': ['x'] }],
  ['three cluster ips', 'service', { '/spec/clusterIP': '10.0.0.1', '/spec/clusterIPs': ['10.0.0.1', '10.0.0.2', 'None'] }],
  ['none and more', 'service', { '/spec/clusterIP': 'None', '/spec/clusterIPs': ['None', '10.0.0.2'] }],
  ['two of one family', 'service', { '/spec/clusterIP': '10.0.0.1', '/spec/clusterIPs': ['10.0.0.1', '10.0.0.2'] }],
  ['family differs', 'service', { '/spec/clusterIP': '10.0.0.9', '/spec/clusterIPs': ['10.0.0.9'], '/spec/ipFamilies': ['IPv6'] }],
  ['unknown families', 'service', { '/spec/ipFamilies': ['IPv5', 'IPv5'], '/spec/ipFamilyPolicy': 'Foo' }],
  [
    'external ips',
    'service',
    { '/spec/externalIPs': ['x', '127.0.0.1', '0.0.0.0', '169.254.1.1', '224.0.0.5', '::1'], '/spec/externalTrafficPolicy': 'Cluster' },
  ],
  ['external traffic policy of a cluster ip', 'service', { '/spec/externalTrafficPolicy': 'Local' }],
  [
    'unknown policies',
    'nodePort',
    { '/spec/externalTrafficPolicy': 'Foo', '/spec/internalTrafficPolicy': 'Bar', '/spec/trafficDistribution': 'Baz' },
  ],
  ['health check of a node port', 'nodePort', { '/spec/healthCheckNodePort': 30001 }],
  ['node port headless', 'nodePort', { '/spec/clusterIP': 'None', '/spec/clusterIPs': ['None'] }],
  [
    'class of a cluster ip',
    'service',
    { '/spec/loadBalancerClass': 'a', '/spec/allocateLoadBalancerNodePorts': true, '/spec/loadBalancerSourceRanges': ['x'] },
  ],
  ['bad class and ranges', 'balancer', { '/spec/loadBalancerClass': 'a b', '/spec/loadBalancerSourceRanges': ['10.0.0.0/24', '10.0.0.0'] }],
  [
    'bad ranges in annotation',
    'balancer',
    { '/metadata/annotations': { 'service.beta.kubernetes.io/load-balancer-source-ranges': '10.0.0.0/8, x' } },
  ],
  [
    'topology annotations',
    'service',
    {
      '/metadata/annotations': { 'service.kubernetes.io/topology-mode': 'Auto', 'service.kubernetes.io/topology-aware-hints': 'Disabled' },
    },
  ],
  ['external name missing', 'external', { '/spec/externalName': '' }],
  ['external name bad', 'external', { '/spec/externalName': 'A_b' }],
  ['external name with dot', 'external', { '/spec/externalName': 'a.b.' }],
  [
    'external name with ips',
    'external',
    {
      '/spec/clusterIP': '10.0.0.5',
      '/spec/clusterIPs': ['10.0.0.5'],
      '/spec/ipFamilies': ['IPv4'],
      '/spec/ipFamilyPolicy': 'SingleStack',
    },
  ],
  ['update nothing', 'service', {}, UPDATE],
  ['update the cluster ip', 'service', { '/spec/clusterIP': '10.0.0.200', '/spec/clusterIPs': ['10.0.0.200'] }, UPDATE],
  ['update to headless', 'service', { '/spec/clusterIP': 'None', '/spec/clusterIPs': ['None'] }, UPDATE],
  ['update the class', 'balancer', { '/spec/loadBalancerClass': 'example.com/y' }, UPDATE],
  ['status of a cluster ip', 'service', { '/status/loadBalancer/ingress': [{ ip: '1.1.1.1', ipMode: 'VIP' }] }, STATUS],
  [
    'status wrong',
    'balancer',
    { '/status/loadBalancer/ingress': [{ ip: 'x', ipMode: 'Foo' }, { ipMode: 'VIP' }, { hostname: '1.2.3.4' }, { hostname: 'A' }] },
    STATUS,
  ],
];

const subsets = (...list: Json[]): Change => ({ '/subsets': list });
const paths = (...list: Json[]): Change => ({ '/spec/rules': [{ http: { paths: list } }] });
const rules = (...list: Json[]): Change => ({ '/spec/ingress': list });

const others: Row[] = [
  ['valid', 'endpoints', {}],
  ['subset without addresses', 'endpoints', subsets({ ports: [{ port: 1, protocol: 'TCP' }] })],
  [
    'bad addresses',
    'endpoints',
    subsets({ addresses: [{ ip: 'x', hostname: 'A', nodeName: 'B' }], notReadyAddresses: [{ ip: '127.0.0.1' }] }),
  ],
  [
    'bad ports',
    'endpoints',
    subsets({
      addresses: [{ ip: '10.1.1.1' }],
      ports: [
        { port: 0, protocol: 'Foo' },
        { name: 'A', port: 70000, protocol: 'TCP', appProtocol: 'a b' },
      ],
    }),
  ],
  ['valid', 'slice', {}],
  ['unknown type', 'slice', { '/addressType': 'Foo' }],
  ['no addresses', 'slice', { '/endpoints': [{ addresses: [] }] }],
  ['bad addresses', 'slice', { '/endpoints': [{ addresses: ['x', '::1', '127.0.0.1'], hostname: 'A', nodeName: 'B' }] }],
  ['bad ipv6', 'slice', { '/addressType': 'IPv6', '/endpoints': [{ addresses: ['1.2.3.4', '2001:DB8::1', 'fe80::1'] }] }],
  ['bad names', 'slice', { '/addressType': 'FQDN', '/endpoints': [{ addresses: ['a', 'A.b', 'example.com.', ''] }] }],
  ['too many addresses', 'slice', { '/endpoints': [{ addresses: Array.from({ length: 101 }, (_, i) => `10.1.1.${i}`) }] }],
  [
    'bad ports',
    'slice',
    {
      '/ports': [
        { name: 'A', protocol: 'Foo' },
        { name: 'a', protocol: 'TCP' },
        { name: 'a', protocol: 'TCP', appProtocol: 'a b' },
      ],
    },
  ],
  [
    'bad hints',
    'slice',
    { '/endpoints': [{ addresses: ['10.1.1.1'], hints: { forZones: [{ name: 'a' }, { name: 'a' }, { name: '-' }] } }] },
  ],
  ['update the type', 'slice', { '/addressType': 'IPv6', '/endpoints': [] }, UPDATE],
  ['valid', 'ingress', {}],
  ['empty', 'ingress', { '/spec/rules': null }],
  ['bad host', 'ingress', { '/spec/rules/0/host': 'A' }],
  ['host an address', 'ingress', { '/spec/rules/0/host': '1.2.3.4' }],
  ['bad wildcard', 'ingress', { '/spec/rules/0/host': 'a.*.com' }],
  ['no paths', 'ingress', paths()],
  [
    'paths wrong',
    'ingress',
    paths(
      { backend },
      { path: 'a//b/..', pathType: 'Exact', backend },
      { path: 'a', pathType: 'ImplementationSpecific', backend },
      { path: '/', pathType: 'Foo', backend },
    ),
  ],
  [
    'backends wrong',
    'ingress',
    paths(
      { path: '/', pathType: 'Prefix', backend: {} },
      { path: '/', pathType: 'Prefix', backend: { service: { name: '', port: {} } } },
      {
        path: '/',
        pathType: 'Prefix',
        backend: { service: { name: '1a', port: { name: 'A', number: 1 } }, resource: { kind: 'a', name: 'b' } },
      },
      { path: '/', pathType: 'Prefix', backend: { service: { name: '1a', port: { name: 'A', number: 1 } } } },
    ),
  ],
  ['resource backend wrong', 'ingress', { '/spec/defaultBackend': { resource: { apiGroup: 'A', kind: '', name: 'a/b' } } }],
  ['tls wrong', 'ingress', { '/spec/tls': [{ hosts: ['A', '*.b', '*'], secretName: 'A' }] }],
  [
    'class differs from annotation',
    'ingress',
    { '/spec/ingressClassName': 'a', '/metadata/annotations': { 'kubernetes.io/ingress.class': 'b' } },
  ],
  ['bad class', 'ingress', { '/spec/ingressClassName': 'A' }],
  ['update to bad class', 'ingress', { '/spec/ingressClassName': 'A' }, UPDATE],
  ['status wrong', 'ingress', { '/status/loadBalancer/ingress': [{ ip: 'x' }, { hostname: '1.2.3.4' }] }, STATUS],
  ['valid', 'ingressClass', {}],
  ['bad controller', 'ingressClass', { '/spec/controller': 'foo' }],
  ['bad controller path', 'ingressClass', { '/spec/controller': 'A.com/a b' }],
  ['bad parameters', 'ingressClass', { '/spec/parameters': { kind: '', name: '', scope: 'Namespace' } }],
  ['unknown scope', 'ingressClass', { '/spec/parameters': { kind: 'a', name: 'b', scope: 'Foo' } }],
  ['cluster scope with namespace', 'ingressClass', { '/spec/parameters': { kind: 'a', name: 'b', scope: 'Cluster', namespace: 'c' } }],
  ['update the controller', 'ingressClass', { '/spec/controller': 'example.com/d' }, UPDATE],
  ['valid', 'policy', {}],
  ['bad selector', 'policy', { '/spec/podSelector': { matchLabels: { a: '-' } } }],
  ['no peer', 'policy', rules({ from: [{}] })],
  ['peer both', 'policy', rules({ from: [{ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }] })],
  [
    'bad blocks',
    'policy',
    rules({
      from: [
        { ipBlock: { cidr: '' } },
        { ipBlock: { cidr: 'x' } },
        { ipBlock: { cidr: '10.0.0.0/8', except: ['x', '11.0.0.0/16', '10.0.0.0/8'] } },
      ],
    }),
  ],
  [
    'bad ports',
    'policy',
    rules({
      ports: [
        { protocol: 'Foo', port: 0 },
        { protocol: 'TCP', port: 'A', endPort: 5 },
        { protocol: 'TCP', port: 10, endPort: 5 },
        { protocol: 'TCP', endPort: 5 },
      ],
    }),
  ],
  ['bad egress', 'policy', { '/spec/egress': [{ to: [{ namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }] }] }],
  ['unknown types', 'policy', { '/spec/policyTypes': ['Foo'] }],
  ['too many types', 'policy', { '/spec/policyTypes': ['Ingress', 'Egress', 'Ingress'] }],
  ['update to bad block', 'policy', rules({ from: [{ ipBlock: { cidr: 'x' } }] }), UPDATE],
  ['no parent', 'address', { '/spec/parentRef': null }],
  ['bad parent', 'address', { '/spec/parentRef': { group: 'A', resource: '', name: 'a/b', namespace: '..' } }],
  ['update the parent', 'address', { '/spec/parentRef/name': 'c' }, UPDATE],
  ['no cidrs', 'cidr', { '/spec/cidrs': [] }],
  ['bad cidrs', 'cidr', { '/spec/cidrs': ['x', '10.0.0.1/24'] }],
  ['too many cidrs', 'cidr', { '/spec/cidrs': ['10.0.0.0/24', '10.1.0.0/24', '10.2.0.0/24'] }],
  ['same family', 'cidr', { '/spec/cidrs': ['10.0.0.0/24', '10.1.0.0/24'] }],
  ['update the cidr', 'cidr', { '/spec/cidrs': ['192.168.1.0/24'] }, UPDATE],
  ['add a cidr of the family', 'cidr', { '/spec/cidrs': ['192.168.0.0/24', '192.168.1.0/24'] }, UPDATE],
  ['remove the cidr', 'cidr', { '/spec/cidrs': [] }, UPDATE],
];

export const network = caseSet(bases, [...services, ...others]);
