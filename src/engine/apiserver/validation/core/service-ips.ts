import { parseIp } from '../../../../kube/ip.ts';
import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkLegacyIp } from '../formats.ts';
import { path } from '../path.ts';

/** Cluster IPs of a Service and the families they come from. */
const SPEC = path('spec');
const IPS = SPEC.child('clusterIPs');
const FAMILIES = SPEC.child('ipFamilies');
const POLICY = SPEC.child('ipFamilyPolicy');
const IP_FAMILIES = ['IPv4', 'IPv6'];
const FAMILY_POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

export function isHeadless(spec: Json): boolean {
  return spec.clusterIPs?.length === 1 && spec.clusterIPs[0] === 'None';
}

export function checkClusterIps(out: Findings, spec: Json, old: Json): void {
  if (spec.type === 'ExternalName') return;
  const ips: string[] = spec.clusterIPs ?? [];
  if (spec.clusterIP) {
    if (ips.length === 0) out.required(IPS);
    else if (ips[0] !== spec.clusterIP) out.invalid(IPS, ips, 'first value must match `clusterIP`');
  } else if (ips.length > 0) out.invalid(IPS, ips, 'must be empty when `clusterIP` is not specified');
  checkFamilies(out, spec.ipFamilies ?? []);
  if (spec.ipFamilyPolicy !== undefined && !FAMILY_POLICIES.includes(spec.ipFamilyPolicy)) {
    out.notSupported(POLICY, spec.ipFamilyPolicy, FAMILY_POLICIES);
  }
  const readable = checkEachIp(out, ips, old?.clusterIPs ?? []);
  if (ips.length > 2) out.invalid(IPS, ips, 'may only hold up to 2 values');
  if (!readable) return;
  if (ips.length > 1 && new Set(ips.map((ip) => parseIp(ip)?.version)).size < 2) {
    out.invalid(IPS, ips, 'may specify no more than one IP for each IP family');
  }
  if (!isHeadless(spec)) checkFamiliesOfIps(out, ips, spec.ipFamilies ?? []);
}

function checkFamilies(out: Findings, families: string[]): void {
  families.forEach((family, i) => {
    if (!IP_FAMILIES.includes(family)) out.notSupported(FAMILIES.index(i), family, IP_FAMILIES);
    if (families.indexOf(family) < i) out.duplicate(FAMILIES.index(i), family);
  });
}

function checkEachIp(out: Findings, ips: string[], known: string[]): boolean {
  let readable = true;
  ips.forEach((ip, i) => {
    if (i === 0 && ip === 'None') {
      if (ips.length === 1) return;
      readable = false;
      out.invalid(IPS, ips, "'None' must be the first and only value");
    } else readable = checkLegacyIp(out, ip, IPS.index(i), known) && readable;
  });
  return readable;
}

function checkFamiliesOfIps(out: Findings, ips: string[], families: string[]): void {
  ips.slice(0, families.length).forEach((ip, i) => {
    const isV6 = parseIp(ip)?.version === 6;
    if (families[i] === 'IPv4' && isV6) out.invalid(IPS.index(i), ip, `expected an IPv4 value as indicated by \`ipFamilies[${i}]\``);
    if (families[i] === 'IPv6' && !isV6) out.invalid(IPS.index(i), ip, `expected an IPv6 value as indicated by \`ipFamilies[${i}]\``);
  });
}

/** The first address and its family stay; a second may come and go. */
export function checkClusterIpsUpdate(out: Findings, spec: Json, old: Json): void {
  if (spec.type === 'ExternalName' || old.type === 'ExternalName') return;
  const [headless, wasHeadless] = [isHeadless(spec), isHeadless(old)];
  if (!(headless && wasHeadless)) checkIpsUpdate(out, spec, old);
  if (!headless && !wasHeadless) checkFamiliesUpdate(out, spec, old);
}

function checkSingleStack(out: Findings, spec: Json, what: string): void {
  if (spec.ipFamilyPolicy === 'SingleStack') return;
  out.invalid(POLICY, spec.ipFamilyPolicy, `must be set to 'SingleStack' when releasing the secondary ${what}`);
}

function checkIpsUpdate(out: Findings, spec: Json, old: Json): void {
  const [ips, oldIps]: [string[], string[]] = [spec.clusterIPs ?? [], old.clusterIPs ?? []];
  const fixed = 'may not change once set';
  if (ips.length === oldIps.length) {
    oldIps.forEach((ip, i) => {
      if (ip !== ips[i]) out.invalid(IPS.index(i), ips, fixed);
    });
    return;
  }
  if (oldIps.length > ips.length && ips.length === 0) out.invalid(IPS.index(0), spec.clusterIPs, 'primary clusterIP can not be unset');
  if (oldIps.length > 0 && ips.length > 0 && ips[0] !== oldIps[0]) out.invalid(IPS.index(0), ips, fixed);
  if (oldIps.length > ips.length && ips.length === 1) checkSingleStack(out, spec, 'clusterIP');
}

function checkFamiliesUpdate(out: Findings, spec: Json, old: Json): void {
  const [families, oldFamilies]: [string[], string[]] = [spec.ipFamilies ?? [], old.ipFamilies ?? []];
  const fixed = 'may not change once set';
  if (families.length === oldFamilies.length) {
    oldFamilies.forEach((family, i) => {
      if (family !== families[i]) out.invalid(FAMILIES.index(0), families, fixed);
    });
    return;
  }
  const shrinks = oldFamilies.length > families.length;
  if (shrinks && (spec.clusterIPs ?? []).length === 0) {
    out.invalid(FAMILIES.index(0), spec.ipFamilies, 'primary ipFamily can not be unset');
  }
  if (families.length > 0 && oldFamilies.length > 0 && families[0] !== oldFamilies[0]) {
    out.invalid(FAMILIES.index(0), spec.clusterIPs, fixed);
  }
  if (shrinks && families.length === 1) checkSingleStack(out, spec, 'ipFamily');
}
