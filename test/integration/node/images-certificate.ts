import { generateKeyPairSync } from 'node:crypto';
import { issueSelfSigned } from '../../../src/lib/pki/certificate.ts';

/** A certificate that only those trust who are told to: its own authority, for loopback and perhaps a name. */
export function testCertificate(...names: string[]): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const cert = issueSelfSigned(
    {
      subject: { commonName: 'registry', organizations: [] },
      publicKey,
      usages: ['digital signature', 'server auth', 'cert sign'],
      notBefore: new Date(Date.now() - 60_000),
      notAfter: new Date(Date.now() + 3_600_000),
      isAuthority: true,
      alternativeNames: { addresses: ['127.0.0.1'], dnsNames: names },
    },
    privateKey,
  );
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, cert };
}
