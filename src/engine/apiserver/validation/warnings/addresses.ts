import { quote } from '../../../../kube/go-text.ts';
import { formatCidr, formatIp, parseCidr, parseIp } from '../../../../kube/ip.ts';
import type { Path } from '../path.ts';

/** Addresses that are read but not as they should be written. */
export function ipWarnings(text: string, at: Path): string[] {
  const ip = parseIp(text);
  if (ip === undefined) return [];
  const canonical = formatIp(ip.bytes);
  if (ip.leadingZeros || ip.mapped) {
    const advice = `will be considered invalid in a future Kubernetes release: use ${quote(canonical)}`;
    return [`${at.toString()}: non-standard IP address ${quote(text)} ${advice}`];
  }
  if (ip.version === 6 && canonical !== text) {
    return [`${at.toString()}: IPv6 address ${quote(text)} should be in RFC 5952 canonical format (${quote(canonical)})`];
  }
  return [];
}

export function cidrWarnings(text: string, at: Path): string[] {
  const cidr = parseCidr(text);
  if (cidr === undefined) return [];
  const found: string[] = [];
  const { address } = cidr;
  const canonical = formatCidr(cidr);
  if (!address.bytes.every((byte, i) => byte === cidr.network[i])) {
    const single = `${formatIp(address.bytes)}/${address.bytes.length * 8}`;
    const choice = `(should be ${quote(canonical)} or ${quote(single)}?)`;
    found.push(`${at.toString()}: CIDR value ${quote(text)} is ambiguous in this context ${choice}`);
  }
  if (cidr.leadingZeros || address.leadingZeros || address.mapped) {
    const advice = `will be considered invalid in a future Kubernetes release: use ${quote(canonical)}`;
    found.push(`${at.toString()}: non-standard CIDR value ${quote(text)} ${advice}`);
  }
  if (found.length === 0 && address.version === 6 && canonical !== text) {
    found.push(`${at.toString()}: IPv6 CIDR value ${quote(text)} should be in RFC 5952 canonical format (${quote(canonical)})`);
  }
  return found;
}
