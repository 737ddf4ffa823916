import { validateFullyQualifiedDomainName } from '../../../../kube/domain-names.ts';
import { isDns1123Label, isDns1123Subdomain, isLabelValue } from '../../../../kube/names.ts';
import { parseIp, validateIp } from '../../../../kube/ip.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { checkEndpointIp, checkPodIp } from '../core/endpoints.ts';
import { semanticEqual } from '../equality.ts';
import { Findings } from '../findings.ts';
import { checkDnsLabel, checkImmutable, checkLegacyIp, checkOneOf, checkQualifiedName } from '../formats.ts';
import { checkLabels } from '../labels.ts';
import { path, type Path } from '../path.ts';

const TYPES = ['FQDN', 'IPv4', 'IPv6'];
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const MAX_PORTS = 20_000;
const MAX_ENDPOINTS = 1000;
const MAX_ADDRESSES = 100;
const MAX_TOPOLOGY = 16;
const MAX_HINTS = 8;

export function validateEndpointSlice(out: Findings, slice: KubeObject, old: KubeObject | undefined): void {
  checkOneOf(out, slice.addressType, TYPES, path('addressType'));
  checkPorts(out, slice.ports ?? [], path('ports'));
  const findings = new Findings();
  checkEndpoints(findings, slice.endpoints ?? [], slice.addressType, path('endpoints'));
  // What older servers let in may stay as long as it is not touched.
  const untouched = (): boolean => old !== undefined && sameEndpoints(slice.endpoints ?? [], old.endpoints ?? []);
  if (findings.count > 0 && !untouched()) out.addAll(findings.list);
  if (old !== undefined) checkImmutable(out, slice.addressType ?? '', old.addressType ?? '', path('addressType'));
}

function sameEndpoints(endpoints: Json[], old: Json[]): boolean {
  return endpoints.length === old.length && endpoints.every((e, i) => semanticEqual('discovery.Endpoint', e, old[i]));
}

function checkPorts(out: Findings, ports: Json[], at: Path): void {
  if (ports.length > MAX_PORTS) return out.tooMany(at, ports.length, MAX_PORTS);
  const names = new Set<string>();
  ports.forEach(({ name = '', protocol, appProtocol }, i) => {
    if (name !== '') checkDnsLabel(out, name, at.index(i).child('name'));
    if (names.has(name)) out.duplicate(at.index(i).child('name'), name);
    names.add(name);
    if (protocol === undefined) out.required(at.index(i).child('protocol'));
    else if (!PROTOCOLS.includes(protocol)) out.notSupported(at.index(i).child('protocol'), protocol, PROTOCOLS);
    if (appProtocol !== undefined) checkQualifiedName(out, appProtocol, at.index(i).child('appProtocol'));
  });
}

function checkEndpoints(out: Findings, endpoints: Json[], type: string | undefined, at: Path): void {
  if (endpoints.length > MAX_ENDPOINTS) return out.tooMany(at, endpoints.length, MAX_ENDPOINTS);
  endpoints.forEach((endpoint, i) => checkEndpoint(out, endpoint, type, at.index(i)));
}

function checkEndpoint(out: Findings, endpoint: Json, type: string | undefined, at: Path): void {
  const addresses: string[] = endpoint.addresses ?? [];
  const addressesAt = at.child('addresses');
  if (addresses.length === 0) out.required(addressesAt, 'must contain at least 1 address');
  else if (addresses.length > MAX_ADDRESSES) out.tooMany(addressesAt, addresses.length, MAX_ADDRESSES);
  for (let i = 0; i < addresses.length; i++) checkAddress(out, addresses[i], type, addressesAt, i);
  if (endpoint.nodeName !== undefined) out.invalidEach(at.child('nodeName'), endpoint.nodeName, isDns1123Subdomain(endpoint.nodeName));
  const topology = endpoint.deprecatedTopology ?? {};
  const count = Object.keys(topology).length;
  if (count > MAX_TOPOLOGY) out.tooMany(at.child('deprecatedTopology'), count, MAX_TOPOLOGY);
  checkLabels(out, topology, at.child('deprecatedTopology'));
  if (endpoint.hostname !== undefined) out.invalidEach(at.child('hostname'), endpoint.hostname, isDns1123Label(endpoint.hostname));
  if (endpoint.hints !== undefined) checkHints(out, endpoint.hints, at.child('hints'));
}

function checkAddress(out: Findings, address: string, type: string | undefined, at: Path, index: number): void {
  if (type === 'IPv4') {
    if (!checkLegacyIp(out, address, at.index(index))) return;
    if (parseIp(address)?.version !== 4) out.invalid(at, address, 'must be an IPv4 address');
    checkPodIp(out, address, at.index(index));
  } else if (type === 'IPv6') {
    const errors = validateIp(at.index(index).toString(), address);
    if (errors.length > 0) return out.addAll(errors);
    if (parseIp(address)?.version !== 6) out.invalid(at, address, 'must be an IPv6 address');
    checkEndpointIp(out, address, at.index(index));
  } else if (type === 'FQDN') out.addAll(validateFullyQualifiedDomainName(at.index(index).toString(), address));
}

function checkHints(out: Findings, hints: Json, at: Path): void {
  for (const [field, rule] of [
    ['forZones', isLabelValue],
    ['forNodes', isDns1123Subdomain],
  ] as const) {
    const list: Json[] = hints[field] ?? [];
    if (list.length > MAX_HINTS) return out.tooMany(at.child(field), list.length, MAX_HINTS);
    const names = new Set<string>();
    list.forEach(({ name = '' }, i) => {
      const nameAt = at.child(field).index(i).child('name');
      if (names.has(name)) out.duplicate(nameAt, name);
      names.add(name);
      out.invalidEach(nameAt, name, rule(name));
    });
  }
}
