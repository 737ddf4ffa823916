import 'reflect-metadata';
import { Pkcs10CertificateRequest, Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } from '@peculiar/x509';
import { describe, expect, it } from 'vitest';
import { createCertificateRequest, parseCertificateRequest } from './certificate-request.ts';
import { generateKeys } from './key-files.ts';
import { parsePem, toPem } from './pem.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

async function foreignRequest(): Promise<string> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: 'CN=system:node:n1, O=system:nodes',
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new SubjectAlternativeNameExtension([
        { type: 'dns', value: 'n1' },
        { type: 'ip', value: '10.1.2.3' },
      ]),
    ],
  });
  return request.toString('pem');
}

describe('parseCertificateRequest', () => {
  it('reads subject and names of a request made by another implementation', async () => {
    const request = parseCertificateRequest(await foreignRequest());
    expect(request.subject).toEqual({ commonName: 'system:node:n1', organizations: ['system:nodes'] });
    expect(request.alternativeNames).toEqual({ dnsNames: ['n1'], addresses: ['10.1.2.3'], emails: [], uris: [] });
    expect(request.verify()).toBe(true);
  });

  it('does not verify, when a byte of the subject was changed after signing', async () => {
    const [block] = parsePem(await foreignRequest());
    const at = block.der.indexOf('system:node:n1');
    block.der[at + 'system:node:n'.length] = '2'.charCodeAt(0);
    const request = parseCertificateRequest(toPem(block.label, block.der));
    expect(request.subject.commonName).toBe('system:node:n2');
    expect(request.verify()).toBe(false);
  });

  it.each([
    ['', 'PEM block type must be CERTIFICATE REQUEST'],
    [toPem('CERTIFICATE', Buffer.from([0x30, 0])), 'PEM block type must be CERTIFICATE REQUEST'],
    [toPem('CERTIFICATE REQUEST', Buffer.from([0x30, 0x82, 0xff, 0xff, 1])), 'Cannot read DER'],
    [toPem('CERTIFICATE REQUEST', Buffer.from([0x30, 0])), 'Cannot read DER'],
  ])('refuses %j', (pem, message) => {
    expect(() => parseCertificateRequest(pem)).toThrow(message);
  });

  it('fails with an error and nothing else, whatever byte is broken', async () => {
    const [block] = parsePem(await foreignRequest());
    for (let at = 0; at < block.der.length; at++) {
      const broken = Buffer.from(block.der);
      broken[at] ^= 0xff;
      let verified = false;
      try {
        verified = parseCertificateRequest(toPem(block.label, broken)).verify();
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
      expect(verified, `byte ${at}`).toBe(false);
    }
  });
});

describe('createCertificateRequest', () => {
  it('makes a request that another implementation verifies', async () => {
    const pem = createCertificateRequest({ commonName: 'ann', organizations: ['dev'] }, generateKeys(), { dnsNames: ['x'] });
    const request = new Pkcs10CertificateRequest(pem);
    expect(await request.verify()).toBe(true);
    expect(request.subject).toBe('O=dev, CN=ann');
  });
});
