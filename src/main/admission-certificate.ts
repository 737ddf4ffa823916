import { createPrivateKey, createPublicKey, X509Certificate, type KeyObject } from 'node:crypto';
import type { Client } from '../client/client.ts';
import { Secret } from '../client/kinds.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import type { Clock } from '../lib/clock.ts';
import { issueCertificate, issueSelfSigned, NOT_BEFORE_SKEW_MS } from '../lib/pki/certificate.ts';
import { generateKeys } from '../lib/pki/key-files.ts';

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3650;
const SERVING_DAYS = 365;
/** A new one is made so long before the old one ends. */
const RENEW_DAYS = 30;

export interface AdmissionPair {
  cert: string;
  key: string;
  /** Whom API servers must trust. */
  authority: string;
}

/**
 * The certificate that all replicas of admission serve with, kept in a Secret: the first replica makes it, whoever sees that it ends soon
 * makes the next one, and of two that do so at once one wins.
 */
export class AdmissionCertificate {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #place: { namespace: string; name: string };
  readonly #hosts: { dnsNames: string[]; addresses: string[] };

  constructor(
    client: Client,
    clock: Clock,
    place: { namespace: string; name: string },
    hosts: { dnsNames: string[]; addresses: string[] },
  ) {
    this.#client = client;
    this.#clock = clock;
    this.#place = place;
    this.#hosts = hosts;
  }

  async read(): Promise<AdmissionPair> {
    for (;;) {
      const stored = await this.#stored();
      const pair = stored && pairOf(stored);
      if (pair && this.#isGood(pair)) return pair;
      const made = this.#make(stored);
      if (await this.#write(stored, made)) return pairOf({ metadata: {}, data: made } as unknown as KubeObject)!;
    }
  }

  #isGood({ cert }: AdmissionPair): boolean {
    const certificate = new X509Certificate(cert);
    const names = [
      ...this.#hosts.dnsNames.map((name) => certificate.checkHost(name)),
      ...this.#hosts.addresses.map((ip) => certificate.checkIP(ip)),
    ];
    return Date.parse(certificate.validTo) - this.#clock.now() > RENEW_DAYS * DAY_MS && names.every((found) => found !== undefined);
  }

  #make(stored: KubeObject | undefined): Record<string, string> {
    const authority = authorityOf(stored, this.#clock.now()) ?? newAuthority(this.#clock.now());
    const keys = generateKeys();
    const now = this.#clock.now();
    const certificate = issueCertificate(
      {
        subject: { commonName: 'tenantry-admission', organizations: [] },
        publicKey: keys.publicKey,
        usages: ['digital signature', 'key encipherment', 'server auth'],
        alternativeNames: this.#hosts,
        notBefore: new Date(now - NOT_BEFORE_SKEW_MS),
        notAfter: new Date(now + SERVING_DAYS * DAY_MS),
      },
      { certificate: new X509Certificate(authority.pem), key: authority.key },
    );
    const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
    const data = { 'ca.crt': authority.pem, 'ca.key': pem(authority.key), 'tls.crt': certificate, 'tls.key': pem(keys.privateKey) };
    return Object.fromEntries(Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')]));
  }

  async #stored(): Promise<KubeObject | undefined> {
    try {
      return await this.#client.resource(Secret, this.#place.namespace).get(this.#place.name);
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  /** @returns false when another replica was faster */
  async #write(stored: KubeObject | undefined, data: Record<string, string>): Promise<boolean> {
    const secrets = this.#client.resource(Secret, this.#place.namespace);
    try {
      if (stored) await secrets.update({ ...stored, data });
      else await secrets.create({ metadata: { name: this.#place.name }, type: 'Opaque', data });
      return true;
    } catch (error) {
      if (isStatusError(error, 'Conflict') || isStatusError(error, 'AlreadyExists')) return false;
      throw error;
    }
  }
}

function textOf(secret: KubeObject, name: string): string | undefined {
  const value: unknown = secret.data?.[name];
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString() : undefined;
}

function pairOf(secret: KubeObject): AdmissionPair | undefined {
  const [cert, key, authority] = ['tls.crt', 'tls.key', 'ca.crt'].map((name) => textOf(secret, name));
  return cert && key && authority ? { cert, key, authority } : undefined;
}

function authorityOf(secret: KubeObject | undefined, now: number): { pem: string; key: KeyObject } | undefined {
  const [pem, key] = ['ca.crt', 'ca.key'].map((name) => secret && textOf(secret, name));
  if (!pem || !key || Date.parse(new X509Certificate(pem).validTo) < now + SERVING_DAYS * DAY_MS) return undefined;
  return { pem, key: createPrivateKey(key) };
}

function newAuthority(now: number): { pem: string; key: KeyObject } {
  const { privateKey } = generateKeys();
  const pem = issueSelfSigned(
    {
      subject: { commonName: 'tenantry-admission-ca', organizations: [] },
      publicKey: createPublicKey(privateKey),
      usages: ['digital signature', 'key encipherment', 'cert sign'],
      notBefore: new Date(now - NOT_BEFORE_SKEW_MS),
      notAfter: new Date(now + AUTHORITY_DAYS * DAY_MS),
      isAuthority: true,
    },
    privateKey,
  );
  return { pem, key: privateKey };
}
