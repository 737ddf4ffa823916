import type { Clock } from '../clock.ts';
import type { Authority } from './certificate.ts';
import { client, ensureLeaf } from './ensure-pki.ts';
import { KeyFiles, type CertificateFile } from './key-files.ts';

export interface NodeCertificates {
  /** What the node shows to the API server: `system:node:<name>`. */
  client: CertificateFile;
  /** What the node's own server shows. */
  serving: CertificateFile;
}

export interface NodeCertificateOptions {
  name: string;
  addresses: readonly string[];
  authority: Authority;
  clock: Pick<Clock, 'now'>;
}

/** The names of the files, for the process that reads them. */
export const NODE_CLIENT = 'node-client';
export const NODE_SERVER = 'node-server';

/** Makes what is missing or about to expire, or was made for a node of another name. */
export async function ensureNodeCertificates(directory: string, options: NodeCertificateOptions): Promise<NodeCertificates> {
  const files = new KeyFiles(directory);
  const { name, addresses, authority } = options;
  const now = options.clock.now();
  const user = `system:node:${name}`;
  const [own, serving] = await Promise.all([
    // The name stands in it as an alternative name too, because that is how one for another node is recognised.
    ensureLeaf(files, NODE_CLIENT, authority, now, { ...client(user, ['system:nodes']), alternativeNames: { dnsNames: [name] } }),
    ensureLeaf(files, NODE_SERVER, authority, now, {
      subject: { commonName: user, organizations: ['system:nodes'] },
      usages: ['digital signature', 'key encipherment', 'server auth'],
      alternativeNames: { dnsNames: [...new Set([name, 'localhost'])], addresses: [...new Set(['127.0.0.1', '::1', ...addresses])] },
    }),
  ]);
  await files.flush();
  return { client: own, serving };
}
