import { isDns1123Subdomain } from '../../../../kube/names.ts';
import { parseIp } from '../../../../kube/ip.ts';
import { isPortNumber } from '../../../../kube/ports.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { deepEqual } from '../equality.ts';
import type { Findings } from '../findings.ts';
import { checkDnsLabel, checkLegacyIp, checkOneOf, checkQualifiedName } from '../formats.ts';
import { path, type Path } from '../path.ts';

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

/** Addresses that traffic from other machines can be sent to. */
export function checkEndpointIp(out: Findings, text: string, at: Path): void {
  const ip = parseIp(text);
  if (ip === undefined) return out.invalid(at, text, 'must be a valid IP address');
  const b = ip.bytes;
  const v4 = ip.version === 4;
  const isLoopback = v4 ? b[0] === 127 : b.every((byte, i) => byte === (i === 15 ? 1 : 0));
  const isLinkLocal = v4 ? b[0] === 169 && b[1] === 254 : b[0] === 0xfe && (b[1] & 0xc0) === 0x80;
  const isLinkLocalMulticast = v4 ? b[0] === 224 && b[1] === 0 && b[2] === 0 : b[0] === 0xff && (b[1] & 0x0f) === 0x02;
  if (b.every((byte) => byte === 0)) out.invalid(at, text, `may not be unspecified (${text})`);
  if (isLoopback) out.invalid(at, text, 'may not be in the loopback range (127.0.0.0/8, ::1/128)');
  if (isLinkLocal) out.invalid(at, text, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  if (isLinkLocalMulticast) out.invalid(at, text, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)');
}

/**
 * The same for an endpoint that may be a Pod. Where Pods share the network of the machine each has an address of 127.64.0.0/10. Kubernetes
 * takes no loopback address, so that nobody reaches what a machine offers to itself only; that listens on 127.0.0.1, which stays refused.
 */
export function checkPodIp(out: Findings, text: string, at: Path): void {
  const ip = parseIp(text);
  const isSharedNetworkPod = ip?.version === 4 && ip.bytes[0] === 127 && (ip.bytes[1] & 0xc0) === 64;
  if (!isSharedNetworkPod) checkEndpointIp(out, text, at);
}

export function validateEndpoints(out: Findings, endpoints: KubeObject, old: KubeObject | undefined): void {
  if (old !== undefined && deepEqual(endpoints.subsets ?? [], old.subsets ?? [])) return;
  (endpoints.subsets ?? []).forEach((subset: Json, i: number) => checkSubset(out, subset, path('subsets').index(i)));
}

function checkSubset(out: Findings, subset: Json, at: Path): void {
  const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
  if (addresses.length === 0 && notReadyAddresses.length === 0) out.required(at, 'must specify `addresses` or `notReadyAddresses`');
  addresses.forEach((address: Json, i: number) => checkAddress(out, address, at.child('addresses').index(i)));
  notReadyAddresses.forEach((address: Json, i: number) => checkAddress(out, address, at.child('notReadyAddresses').index(i)));
  ports.forEach((port: Json, i: number) => checkPort(out, port, ports.length > 1, at.child('ports').index(i)));
}

function checkAddress(out: Findings, { ip = '', hostname, nodeName }: Json, at: Path): void {
  checkLegacyIp(out, ip, at.child('ip'));
  if (hostname) checkDnsLabel(out, hostname, at.child('hostname'));
  if (nodeName !== undefined) out.invalidEach(at.child('nodeName'), nodeName, isDns1123Subdomain(nodeName));
  checkPodIp(out, ip, at.child('ip'));
}

function checkPort(out: Findings, { name = '', port = 0, protocol, appProtocol }: Json, needsName: boolean, at: Path): void {
  if (name !== '') checkDnsLabel(out, name, at.child('name'));
  else if (needsName) out.required(at.child('name'));
  out.invalidEach(at.child('port'), port, isPortNumber(port));
  checkOneOf(out, protocol, PROTOCOLS, at.child('protocol'));
  if (appProtocol !== undefined) checkQualifiedName(out, appProtocol, at.child('appProtocol'));
}
