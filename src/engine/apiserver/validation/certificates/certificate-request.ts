import { createPublicKey, verify, X509Certificate } from 'node:crypto';
import { quote } from '../../../../kube/go-text.ts';
import { pemBlocks } from './pem.ts';

/** PKCS#10: enough of DER to check that a request is signed with the key it asks a certificate for. */
interface Element {
  tag: number;
  content: Buffer;
  /** With tag and length. */
  whole: Buffer;
}

const SEQUENCE = 0x30;
const BIT_STRING = 0x03;
const OBJECT_ID = 0x06;

function readElement(bytes: Buffer, at: number): Element | undefined {
  if (at + 2 > bytes.length) return undefined;
  let [length, header] = [bytes[at + 1], 2];
  if (length & 0x80) {
    const count = length & 0x7f;
    if (count === 0 || count > 4 || at + 2 + count > bytes.length) return undefined;
    length = bytes.readUIntBE(at + 2, count);
    header += count;
  }
  const end = at + header + length;
  return end > bytes.length ? undefined : { tag: bytes[at], content: bytes.subarray(at + header, end), whole: bytes.subarray(at, end) };
}

function readAll(bytes: Buffer): Element[] | undefined {
  const found: Element[] = [];
  for (let at = 0; at < bytes.length;) {
    const element = readElement(bytes, at);
    if (element === undefined) return undefined;
    found.push(element);
    at += element.whole.length;
  }
  return found;
}

/** Hash of a signature algorithm by the hex of its object identifier; null where the key type implies it. */
const ALGORITHMS: Record<string, string | null> = {
  '2a864886f70d010105': 'sha1',
  '2a864886f70d01010b': 'sha256',
  '2a864886f70d01010c': 'sha384',
  '2a864886f70d01010d': 'sha512',
  '2a8648ce3d040302': 'sha256',
  '2a8648ce3d040303': 'sha384',
  '2a8648ce3d040304': 'sha512',
  '2b6570': null,
};

interface Request {
  info: Buffer;
  key: Buffer;
  algorithm: string;
  signature: Buffer;
}

function parseRequest(bytes: Buffer): Request | undefined {
  const outer = readElement(bytes, 0);
  if (outer === undefined || outer.tag !== SEQUENCE || outer.whole.length !== bytes.length) return undefined;
  const [info, algorithm, signature] = readAll(outer.content) ?? [];
  if (info?.tag !== SEQUENCE || algorithm?.tag !== SEQUENCE || signature?.tag !== BIT_STRING) return undefined;
  const key = readAll(info.content)?.[2];
  const oid = readElement(algorithm.content, 0);
  if (key?.tag !== SEQUENCE || oid?.tag !== OBJECT_ID) return undefined;
  return { info: info.whole, key: key.whole, algorithm: oid.content.toString('hex'), signature: signature.content.subarray(1) };
}

/** What is wrong with a PEM-encoded request; its parsing errors are Go's only in the common cases. */
export function requestError(pem: string): string | undefined {
  const [block] = pemBlocks(pem);
  if (block === undefined || block.type !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST';
  const request = parseRequest(block.bytes);
  if (request === undefined) return 'asn1: structure error: malformed certificate request';
  const hash = ALGORITHMS[request.algorithm];
  if (hash === undefined) return 'x509: cannot verify signature: algorithm unimplemented';
  try {
    const key = createPublicKey({ key: request.key, format: 'der', type: 'spki' });
    if (verify(hash, request.info, key, request.signature)) return undefined;
    return key.asymmetricKeyType === 'rsa' ? 'crypto/rsa: verification error' : `x509: ${signatureFailure(key.asymmetricKeyType)}`;
  } catch {
    return 'x509: unsupported public key in certificate request';
  }
}

function signatureFailure(keyType: string | undefined): string {
  return keyType === 'ec' ? 'ECDSA verification failure' : 'Ed25519 verification failure';
}

/** What is wrong with an issued chain. */
export function certificateError(pem: string): string | undefined {
  if (pem === '') return undefined;
  const blocks = pemBlocks(pem);
  for (const { type, headers, bytes } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${quote(type)}`;
    if (headers) return 'no PEM block headers are permitted';
    if (bytes.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates';
    try {
      void new X509Certificate(bytes);
    } catch {
      return 'x509: malformed certificate';
    }
  }
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined;
}
