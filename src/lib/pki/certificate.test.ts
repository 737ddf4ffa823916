import 'reflect-metadata';
import { generateKeyPairSync, X509Certificate, type KeyObject } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  KeyUsagesExtension,
  X509Certificate as OtherX509,
} from '@peculiar/x509';
import { describe, expect, it } from 'vitest';
import { issueCertificate, issueSelfSigned, subjectOf, type Authority, type CertificateTemplate } from './certificate.ts';
import { generateKeys } from './key-files.ts';

const notBefore = new Date('2026-01-01T00:00:00Z');
const notAfter = new Date('2055-06-01T12:30:00Z');

function authorityWith(keys: { privateKey: KeyObject; publicKey: KeyObject }): Authority {
  const pem = issueSelfSigned(
    {
      subject: { commonName: 'test-ca', organizations: ['Tenantry'] },
      publicKey: keys.publicKey,
      usages: ['cert sign', 'crl sign', 'digital signature'],
      notBefore,
      notAfter,
      isAuthority: true,
    },
    keys.privateKey,
  );
  return { certificate: new X509Certificate(pem), key: keys.privateKey };
}

function leafTemplate(publicKey: KeyObject): CertificateTemplate {
  return {
    subject: { commonName: 'jürgen', organizations: ['b', 'a'], uid: 'u-1' },
    publicKey,
    usages: ['digital signature', 'decipher only', 'client auth', 'server auth'],
    notBefore,
    notAfter,
    alternativeNames: {
      dnsNames: ['a.example', '*.b.example'],
      addresses: ['10.0.0.1', '2001:db8::7'],
      uris: ['spiffe://x/y'],
      emails: ['a@b.c'],
    },
  };
}

const AUTHORITY_KEYS = {
  'ECDSA P-256': () => generateKeys(),
  'ECDSA P-384': () => generateKeyPairSync('ec', { namedCurve: 'secp384r1' }),
  RSA: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  Ed25519: () => generateKeyPairSync('ed25519'),
};

describe('issueCertificate', () => {
  for (const [name, makeKeys] of Object.entries(AUTHORITY_KEYS)) {
    it(`makes a chain that OpenSSL verifies, with an ${name} authority`, () => {
      const authority = authorityWith(makeKeys());
      const leaf = new X509Certificate(issueCertificate(leafTemplate(generateKeys().publicKey), authority));
      expect(leaf.checkIssued(authority.certificate)).toBe(true);
      expect(leaf.verify(authority.certificate.publicKey)).toBe(true);
      expect(authority.certificate.ca).toBe(true);
      expect(leaf.ca).toBe(false);
    });
  }

  it('writes what another implementation of X.509 reads', async () => {
    const authority = authorityWith(generateKeys());
    const leaf = new OtherX509(issueCertificate(leafTemplate(generateKeys().publicKey), authority));
    expect(
      await leaf.verify({ publicKey: await new OtherX509(authority.certificate.toString()).publicKey.export(), signatureOnly: true }),
    ).toBe(true);
    expect(leaf.notBefore).toEqual(notBefore);
    expect(leaf.notAfter).toEqual(notAfter);
    expect(leaf.issuer).toBe('O=Tenantry, CN=test-ca');
    expect(leaf.getExtension(BasicConstraintsExtension)?.ca).toBe(false);
    expect(leaf.getExtension(ExtendedKeyUsageExtension)?.usages).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
    expect(leaf.getExtension(KeyUsagesExtension)?.usages).toBe(1 | 256);
    expect(leaf.getExtension(AuthorityKeyIdentifierExtension)?.keyId).toMatch(/^[0-9a-f]{40}$/);
    expect(leaf.serialNumber).toMatch(/^[0-9a-f]{20,34}$/);
  });

  it('carries names that TLS clients match', () => {
    const leaf = new X509Certificate(issueCertificate(leafTemplate(generateKeys().publicKey), authorityWith(generateKeys())));
    expect(leaf.subjectAltName).toBe(
      'DNS:a.example, DNS:*.b.example, IP Address:10.0.0.1, IP Address:2001:DB8:0:0:0:0:0:7, email:a@b.c, URI:spiffe://x/y',
    );
    expect(leaf.checkIP('2001:db8::7')).toBe('2001:db8::7');
    expect(leaf.checkHost('x.b.example')).toBe('*.b.example');
  });

  it('gives back user, groups and uid through subjectOf', () => {
    const leaf = new X509Certificate(issueCertificate(leafTemplate(generateKeys().publicKey), authorityWith(generateKeys())));
    expect(subjectOf(leaf.raw)).toEqual({ commonName: 'jürgen', organizations: ['a', 'b'], uid: 'u-1' });
  });

  it('refuses a usage that is none', () => {
    const template = { ...leafTemplate(generateKeys().publicKey), usages: ['client auth', 'world peace'] };
    expect(() => issueCertificate(template, authorityWith(generateKeys()))).toThrow('unrecognized usage values: ["world peace"]');
  });

  it('never repeats a serial number', () => {
    const authority = authorityWith(generateKeys());
    const template = leafTemplate(generateKeys().publicKey);
    const serials = Array.from({ length: 20 }, () => new X509Certificate(issueCertificate(template, authority)).serialNumber);
    expect(new Set(serials).size).toBe(20);
  });
});
