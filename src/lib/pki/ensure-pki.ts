import { createPrivateKey, createPublicKey, X509Certificate, type KeyObject } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import type { Clock } from '../clock.ts';
import { issueCertificate, issueSelfSigned, NOT_BEFORE_SKEW_MS, type Authority, type CertificateTemplate } from './certificate.ts';
import { isIssuedBy } from './issued-by.ts';
import { generateKeys, KeyFiles, type CertificateFile, type EncryptionKey, type KeyPair } from './key-files.ts';
import { readIfPresent } from './private-file.ts';

/** Everything secret and everything trusted of one server, as it stands in its data directory. */
export interface Pki {
  /** Signs client and serving certificates; clients trust it. */
  authority: CertificateFile;
  /** Signs the certificates of front proxies, ours included. */
  frontProxyAuthority: CertificateFile;
  /** What we show to extension API servers. */
  frontProxyClient: CertificateFile;
  serving: CertificateFile;
  /** What we show to nodes. */
  kubeletClient: CertificateFile;
  admin: CertificateFile;
  serviceAccountKeys: KeyPair;
  /** Tokens that were signed with these are good too. */
  formerServiceAccountKeys: KeyObject[];
  /** The first one encrypts Secrets at rest, all of them decrypt. */
  encryptionKeys: EncryptionKey[];
}

export interface PkiOptions {
  /** DNS names the server is reached by, besides localhost and the names of the `kubernetes` Service. */
  names?: readonly string[];
  /** IP addresses the server is reached by, besides loopback. */
  addresses?: readonly string[];
  /** Leaves from before are made anew, in milliseconds. */
  leavesSince?: number;
  clock: Pick<Clock, 'now'>;
}

/** Who signs leaves, and what is asked of those. */
export interface LeafAuthority extends Authority {
  /** Shown with each of them, for who trusts only authorities of before: this one, signed by those. */
  crossPem?: string;
  leavesSince?: number;
}

export const FRONT_PROXY_COMMON_NAME = 'front-proxy-client';
/** Nodes let in whoever shows a certificate with this name. */
export const KUBELET_CLIENT_COMMON_NAME = 'kube-apiserver-kubelet-client';
export const ADMIN_COMMON_NAME = 'kubernetes-admin';

const STANDARD_NAMES = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local', 'localhost'];
const STANDARD_ADDRESSES = ['127.0.0.1', '::1'];
const DAY_MS = 24 * 3600 * 1000;
const AUTHORITY_LIFETIME_MS = 3650 * DAY_MS;
export const LEAF_LIFETIME_MS = 365 * DAY_MS;
/** A leaf with less than this left is replaced, so that a server restarted now and then never shows an expired one. */
export const RENEWAL_WINDOW_MS = 90 * DAY_MS;

/** Makes what is missing, renews what is about to expire, reuses the rest. Cheap when there is nothing to make. */
export async function ensurePki(directory: string, options: PkiOptions): Promise<Pki> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const files = new KeyFiles(directory);
  const now = options.clock.now();
  const { leavesSince } = options;
  const [authority, frontProxyAuthority, serviceAccountKeys, encryptionKeys] = await Promise.all([
    ensureAuthority(files, 'ca', 'tenantry-ca', now, leavesSince),
    ensureAuthority(files, 'front-proxy-ca', 'tenantry-front-proxy-ca', now, leavesSince),
    files.signingKey('sa'),
    files.encryptionKeys('encryption'),
  ]);
  const formerServiceAccountKeys = await files.formerKeys('sa');
  const names = [...new Set([...STANDARD_NAMES, ...(options.names ?? [])])].sort();
  const addresses = [...new Set([...STANDARD_ADDRESSES, ...(options.addresses ?? [])])].sort();
  const [frontProxyClient, serving, kubeletClient, admin] = await Promise.all([
    ensureLeaf(files, 'front-proxy-client', frontProxyAuthority, now, client(FRONT_PROXY_COMMON_NAME, [])),
    ensureLeaf(files, 'apiserver', authority, now, {
      subject: { commonName: 'kube-apiserver', organizations: [] },
      usages: ['digital signature', 'key encipherment', 'server auth'],
      alternativeNames: { dnsNames: names, addresses },
    }),
    // A kubelet that asks us whether this user may gets the answer by the group.
    ensureLeaf(files, 'apiserver-kubelet-client', authority, now, client(KUBELET_CLIENT_COMMON_NAME, ['system:masters'])),
    ensureLeaf(files, 'admin', authority, now, client(ADMIN_COMMON_NAME, ['system:masters'])),
  ]);
  await files.flush();
  const signed = { frontProxyClient, serving, kubeletClient, admin };
  return { authority, frontProxyAuthority, ...signed, serviceAccountKeys, formerServiceAccountKeys, encryptionKeys };
}

export type LeafTemplate = Pick<CertificateTemplate, 'subject' | 'usages' | 'alternativeNames'>;

export function client(commonName: string, organizations: string[]): LeafTemplate {
  return { subject: { commonName, organizations }, usages: ['digital signature', 'key encipherment', 'client auth'] };
}

/** Its file may hold further authorities after it, which are trusted and sign nothing any more. */
export async function ensureAuthority(
  files: KeyFiles,
  name: string,
  commonName: string,
  now: number,
  leavesSince?: number,
): Promise<CertificateFile & LeafAuthority> {
  const { certificatePem, keyPem } = await files.read(name);
  if (certificatePem !== undefined && keyPem === undefined) {
    throw new Error(
      `Cannot use authority "${files.path(`${name}.crt`)}": its key is missing; restore ${name}.key from a backup, or remove the .crt file to make a new authority that no existing client trusts`,
    );
  }
  if (certificatePem !== undefined && keyPem !== undefined) {
    const present = presentAuthority(files.path(`${name}.crt`), certificatePem, keyPem, now);
    return { ...present, crossPem: await readIfPresent(files.path(crossFileOf(name))), leavesSince };
  }
  // A key without its certificate is what a crash between the two writes leaves behind.
  const privateKey = keyPem === undefined ? generateKeys().privateKey : createPrivateKey(keyPem);
  return files.writePair(name, newAuthority(commonName, privateKey, now), privateKey);
}

/** Where the certificates are that authorities of before gave to this one. */
export function crossFileOf(authority: string): string {
  return `${authority}-cross.crt`;
}

/** PEM of a root. */
export function newAuthority(commonName: string, key: KeyObject, now: number): string {
  return issueSelfSigned(authorityTemplate(commonName, key, now, now + AUTHORITY_LIFETIME_MS), key);
}

export function authorityTemplate(commonName: string, key: KeyObject, now: number, notAfter: number): CertificateTemplate {
  return {
    subject: { commonName, organizations: [] },
    publicKey: createPublicKey(key),
    usages: ['digital signature', 'key encipherment', 'cert sign'],
    notBefore: new Date(now - NOT_BEFORE_SKEW_MS),
    notAfter: new Date(notAfter),
    isAuthority: true,
  };
}

function presentAuthority(path: string, certificatePem: string, keyPem: string, now: number): CertificateFile {
  const { certificate, key } = readAuthority(path, certificatePem, keyPem);
  if (!certificate.checkPrivateKey(key)) {
    throw new Error(`Cannot use authority "${path}": the key beside it belongs to another certificate; restore both files from one backup`);
  }
  if (Date.parse(certificate.validTo) <= now) {
    throw new Error(`Cannot use authority "${path}": it expired at ${certificate.validTo}; remove it and its key to make a new one`);
  }
  return { certificatePem, keyPem, certificate, key };
}

function readAuthority(path: string, certificatePem: string, keyPem: string): Pick<CertificateFile, 'certificate' | 'key'> {
  try {
    return { certificate: new X509Certificate(certificatePem), key: createPrivateKey(keyPem) };
  } catch (error) {
    throw new Error(`Cannot use authority "${path}": it or the key beside it is damaged; restore both files from one backup`, {
      cause: error,
    });
  }
}

export async function ensureLeaf(
  files: KeyFiles,
  name: string,
  authority: LeafAuthority,
  now: number,
  wanted: LeafTemplate,
): Promise<CertificateFile> {
  const { certificatePem, keyPem } = await files.read(name);
  const chained = (pem: string) => `${pem}${authority.crossPem ?? ''}`;
  if (certificatePem !== undefined && keyPem !== undefined) {
    const present = readLeaf(certificatePem, keyPem);
    if (present && isUsable(present, authority, now, wanted)) {
      const text = chained(present.certificate.toString());
      return text === certificatePem ? present : files.writePair(name, text, present.key);
    }
  }
  const { privateKey, publicKey } = generateKeys();
  return files.writePair(name, chained(issueCertificate(leafTemplate(wanted, publicKey, authority, now), authority)), privateKey);
}

function leafTemplate(wanted: LeafTemplate, publicKey: KeyObject, authority: Authority, now: number): CertificateTemplate {
  const notAfter = Math.min(now + LEAF_LIFETIME_MS, Date.parse(authority.certificate.validTo));
  return { ...wanted, publicKey, notBefore: new Date(now - NOT_BEFORE_SKEW_MS), notAfter: new Date(notAfter) };
}

/** Undefined for files that are torn or foreign: a leaf can always be made again. */
function readLeaf(certificatePem: string, keyPem: string): CertificateFile | undefined {
  try {
    return { certificatePem, keyPem, certificate: new X509Certificate(certificatePem), key: createPrivateKey(keyPem) };
  } catch {
    return undefined;
  }
}

function isUsable(leaf: CertificateFile, authority: LeafAuthority, now: number, wanted: LeafTemplate): boolean {
  const { certificate, key } = leaf;
  const renewAt = Math.min(Date.parse(certificate.validTo), Date.parse(authority.certificate.validTo)) - RENEWAL_WINDOW_MS;
  const issued = Date.parse(certificate.validFrom) + NOT_BEFORE_SKEW_MS;
  return (
    Date.parse(certificate.validFrom) <= now &&
    issued >= wholeSeconds(authority.leavesSince ?? 0) &&
    now < renewAt &&
    certificate.checkPrivateKey(key) &&
    isIssuedBy(certificate, authority.certificate) &&
    coversNames(certificate, wanted)
  );
}

/** Certificates know no smaller parts of time. */
function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

function coversNames(certificate: X509Certificate, { alternativeNames }: LeafTemplate): boolean {
  const names = (alternativeNames?.dnsNames ?? []).every((name) => certificate.checkHost(name, { subject: 'never' }) !== undefined);
  return names && (alternativeNames?.addresses ?? []).every((address) => certificate.checkIP(address) !== undefined);
}
