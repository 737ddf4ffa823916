import { createPrivateKey, X509Certificate } from 'node:crypto';
import { pemBlocks } from '../certificates/pem.ts';

/** What Go's tls.X509KeyPair says about a certificate and key in base64; the common cases in its words. */
export function keyPairWarning(certificate: string, key: string): string | undefined {
  const [certificatePem, keyPem] = [certificate, key].map((base64) => Buffer.from(base64, 'base64').toString('latin1'));
  const blocks = pemBlocks(certificatePem);
  const leaf = blocks.find((block) => block.type === 'CERTIFICATE');
  if (leaf === undefined) return missing(blocks, 'certificate', 'certificate');
  const keyBlocks = pemBlocks(keyPem);
  const isKey = (type: string): boolean => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY');
  if (!keyBlocks.some((block) => isKey(block.type))) {
    if (keyBlocks.length === 1 && keyBlocks[0].type === 'CERTIFICATE') {
      return 'tls: found a certificate rather than a key in the PEM for the private key';
    }
    return missing(keyBlocks, 'key', 'key');
  }
  try {
    const matches = new X509Certificate(leaf.bytes).checkPrivateKey(createPrivateKey(keyPem));
    return matches ? undefined : 'tls: private key does not match public key';
  } catch {
    return 'tls: failed to parse private key';
  }
}

function missing(blocks: { type: string }[], input: string, what: string): string {
  if (blocks.length === 0) return `tls: failed to find any PEM data in ${input} input`;
  const types = blocks.map((block) => block.type).join(' ');
  return what === 'certificate'
    ? `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${types}]`
    : `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${types}]`;
}
