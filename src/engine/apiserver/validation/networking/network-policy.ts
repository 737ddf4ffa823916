import { cidrContains, parseCidr } from '../../../../kube/ip.ts';
import { isPortName, isPortNumber } from '../../../../kube/ports.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { Findings } from '../findings.ts';
import { checkLegacyCidr } from '../formats.ts';
import { checkLabelSelector } from '../labels.ts';
import { path, type Path } from '../path.ts';

const SPEC = path('spec');
const TYPES = ['Ingress', 'Egress'];
const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];

interface Tolerated {
  selectorValues: boolean;
  cidrs: string[];
}

export function validateNetworkPolicy(out: Findings, policy: KubeObject, old: KubeObject | undefined): void {
  const spec = policy.spec ?? {};
  if (old === undefined) return checkSpec(out, spec, { selectorValues: false, cidrs: [] });
  const findings = new Findings();
  checkLabelSelector(findings, old.spec?.podSelector, SPEC);
  const selectorValues = findings.count > 0;
  // Once as a new object and once as an update, as upstream does; both answers reach the client.
  checkSpec(out, spec, { selectorValues, cidrs: [] });
  checkSpec(out, spec, { selectorValues, cidrs: cidrsOf(old.spec ?? {}) });
}

function cidrsOf(spec: Json): string[] {
  const rules: Json[][] = [...(spec.ingress ?? []).map((r: Json) => r.from ?? []), ...(spec.egress ?? []).map((r: Json) => r.to ?? [])];
  return rules.flat().flatMap(({ ipBlock }) => (ipBlock === undefined ? [] : [ipBlock.cidr ?? '', ...(ipBlock.except ?? [])]));
}

function checkSpec(out: Findings, spec: Json, tolerated: Tolerated): void {
  checkLabelSelector(out, spec.podSelector, SPEC.child('podSelector'), { allowInvalidValues: tolerated.selectorValues });
  for (const [field, peers] of [
    ['ingress', 'from'],
    ['egress', 'to'],
  ]) {
    (spec[field] ?? []).forEach((rule: Json, i: number) => {
      const at = SPEC.child(field).index(i);
      (rule.ports ?? []).forEach((port: Json, j: number) => checkPort(out, port, at.child('ports').index(j)));
      (rule[peers] ?? []).forEach((peer: Json, j: number) => checkPeer(out, peer, at.child(peers).index(j), tolerated));
    });
  }
  const types: string[] = spec.policyTypes ?? [];
  const typesAt = SPEC.child('policyTypes');
  if (types.length > TYPES.length) return out.invalid(typesAt, types, 'may not specify more than two policyTypes');
  types.forEach((type, i) => {
    if (!TYPES.includes(type)) out.notSupported(typesAt.index(i), type, TYPES);
  });
}

function checkPort(out: Findings, { protocol, port, endPort }: Json, at: Path): void {
  if (protocol !== undefined && !PROTOCOLS.includes(protocol)) out.notSupported(at.child('protocol'), protocol, PROTOCOLS);
  const endAt = at.child('endPort');
  if (port === undefined) {
    if (endPort !== undefined) out.invalid(endAt, endPort, 'may not be specified when `port` is not specified');
  } else if (typeof port === 'string') {
    if (endPort !== undefined) out.invalid(endAt, endPort, 'may not be specified when `port` is non-numeric');
    out.invalidEach(at.child('port'), port, isPortName(port));
  } else {
    out.invalidEach(at.child('port'), port, isPortNumber(port));
    if (endPort === undefined) return;
    if (endPort < port) out.invalid(endAt, port, 'must be greater than or equal to `port`');
    out.invalidEach(endAt, endPort, isPortNumber(endPort));
  }
}

function checkPeer(out: Findings, { podSelector, namespaceSelector, ipBlock }: Json, at: Path, tolerated: Tolerated): void {
  const options = { allowInvalidValues: tolerated.selectorValues };
  checkLabelSelector(out, podSelector, at.child('podSelector'), options);
  checkLabelSelector(out, namespaceSelector, at.child('namespaceSelector'), options);
  if (ipBlock !== undefined) checkIpBlock(out, ipBlock, at.child('ipBlock'), tolerated.cidrs);
  const hasSelector = podSelector !== undefined || namespaceSelector !== undefined;
  if (!hasSelector && ipBlock === undefined) out.required(at, 'must specify a peer');
  else if (hasSelector && ipBlock !== undefined) out.forbidden(at, 'may not specify both ipBlock and another peer');
}

function checkIpBlock(out: Findings, block: Json, at: Path, known: string[]): void {
  if (!block.cidr) return out.required(at.child('cidr'));
  checkLegacyCidr(out, block.cidr, at.child('cidr'), known);
  const cidr = parseCidr(block.cidr);
  if (cidr === undefined) return;
  (block.except ?? []).forEach((text: string, i: number) => {
    const exceptAt = at.child('except').index(i);
    checkLegacyCidr(out, text, exceptAt, known);
    const except = parseCidr(text);
    if (except === undefined) return;
    const isInside = cidrContains(cidr, { ...except.address, bytes: except.network });
    if (!isInside || cidr.prefix >= except.prefix) out.invalid(exceptAt, text, 'must be a strict subset of `cidr`');
  });
}
