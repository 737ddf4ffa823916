import { webcrypto } from 'node:crypto';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

export interface TestPki {
  caPem: string;
  server: { cert: string; key: string };
  client: { cert: string; key: string };
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** A CA with one server certificate for loopback and one client certificate. */
export async function makeTestPki(): Promise<TestPki> {
  const caKeys = await generateKeys();
  const validity = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) };
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity,
    serialNumber: '01',
    name: 'CN=test-ca',
    keys: caKeys,
    signingAlgorithm: ALGORITHM,
    extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
  });
  const issue = async (subject: string, serialNumber: string, extensions: x509.Extension[]): Promise<{ cert: string; key: string }> => {
    const keys = await generateKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      ...validity,
      serialNumber,
      subject,
      issuer: ca.subject,
      publicKey: keys.publicKey,
      signingKey: caKeys.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions,
    });
    const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
    return { cert: certificate.toString('pem'), key: x509.PemConverter.encode(key, 'PRIVATE KEY') };
  };
  const names = new x509.SubjectAlternativeNameExtension([
    { type: 'ip', value: '127.0.0.1' },
    { type: 'dns', value: 'localhost' },
  ]);
  return {
    caPem: ca.toString('pem'),
    server: await issue('CN=server', '02', [names]),
    client: await issue('CN=alice,O=team', '03', []),
  };
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}
