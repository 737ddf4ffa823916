import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Certificates {
  ca: string;
  caKey: string;
  serverCert: string;
  serverKey: string;
  frontProxyCa: string;
  frontProxyCert: string;
  frontProxyKey: string;
  adminCert: string;
  adminKey: string;
  serviceAccountKey: string;
}

/** Makes every key pair of a control plane as files in `folder`, with openssl. */
export function makeCertificates(folder: string): Certificates {
  const file = (name: string) => join(folder, name);
  const ca = authority(folder, 'ca', 'kubernetes');
  const frontProxy = authority(folder, 'front-proxy-ca', 'front-proxy-ca');
  const names = 'DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:10.0.0.1';
  const server = issue(folder, 'server', '/CN=kube-apiserver', ca, `subjectAltName=${names}\nextendedKeyUsage=serverAuth`);
  const admin = issue(folder, 'admin', '/O=system:masters/CN=kubernetes-admin', ca, 'extendedKeyUsage=clientAuth');
  const proxy = issue(folder, 'front-proxy', '/CN=front-proxy-client', frontProxy, 'extendedKeyUsage=clientAuth');
  openssl(['genrsa', '-out', file('sa.key'), '2048']);
  return {
    ca: ca.cert,
    caKey: ca.key,
    serverCert: server.cert,
    serverKey: server.key,
    frontProxyCa: frontProxy.cert,
    frontProxyCert: proxy.cert,
    frontProxyKey: proxy.key,
    adminCert: admin.cert,
    adminKey: admin.key,
    serviceAccountKey: file('sa.key'),
  };
}

interface KeyPair {
  cert: string;
  key: string;
}

const EC_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

function authority(folder: string, name: string, commonName: string): KeyPair {
  const pair = { cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
  const usage = ['-addext', 'keyUsage=critical,digitalSignature,keyEncipherment,keyCertSign'];
  openssl(['req', '-x509', ...EC_KEY, '-subj', `/CN=${commonName}`, '-days', '3650', ...usage, '-keyout', pair.key, '-out', pair.cert]);
  return pair;
}

function issue(folder: string, name: string, subject: string, issuer: KeyPair, extensions: string): KeyPair {
  const pair = { cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
  const request = join(folder, `${name}.csr`);
  const extensionFile = join(folder, `${name}.ext`);
  writeFileSync(extensionFile, extensions);
  openssl(['req', ...EC_KEY, '-subj', subject, '-keyout', pair.key, '-out', request]);
  const signer = ['-CA', issuer.cert, '-CAkey', issuer.key, '-CAcreateserial'];
  openssl(['x509', '-req', '-in', request, ...signer, '-days', '365', '-extfile', extensionFile, '-out', pair.cert]);
  return pair;
}

function openssl(args: string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
