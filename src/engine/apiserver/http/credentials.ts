import { X509Certificate } from 'node:crypto';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { isIssuedBy } from '../../../lib/pki/issued-by.ts';
import { certificateBlocks } from '../../../lib/pki/pem.ts';
import type { Credentials } from '../auth/user.ts';
import type { NodeRequest } from './body-reader.ts';

/** PEM bundles whose certificates are believed: clients by one, front proxies by the other. */
export interface ClientAuthorities {
  client: string;
  frontProxy: string;
}

type Known = Pick<Credentials, 'certificate' | 'frontProxyCommonName' | 'badCertificate'>;

const perSocket = new WeakMap<object, Known>();

/** What a connection proved about its client, worked out once per connection. */
export function credentialsOf(request: NodeRequest, headers: Credentials['headers'], authorities: ClientAuthorities): Credentials {
  const socket = tlsSocketOf(request);
  let known = perSocket.get(socket);
  if (known === undefined) {
    known = inspect(socket, authorities);
    perSocket.set(socket, known);
  }
  return {
    ...known,
    authorization: request.headers.authorization,
    headers,
  };
}

function tlsSocketOf(request: NodeRequest): TLSSocket {
  // HTTP/2 hides the socket behind a proxy object that is new for every stream; the session is one per connection.
  if ('stream' in request && request.stream?.session?.socket !== undefined) {
    const { session } = request.stream;
    return sessionSockets.get(session) ?? rememberSocket(session, session.socket as TLSSocket);
  }
  return request.socket as TLSSocket;
}

const sessionSockets = new WeakMap<object, TLSSocket>();

function rememberSocket(session: object, socket: TLSSocket): TLSSocket {
  sessionSockets.set(session, socket);
  return socket;
}

/** What is known of the certificates that clients show, by their bytes: a client with many connections shows one. */
const perCertificate = new Map<string, Known>();
const REMEMBERED = 1000;

function inspect(socket: TLSSocket, authorities: ClientAuthorities): Known {
  const shown = socket.getPeerX509Certificate();
  if (shown === undefined) return {};
  // Of the connection and not of the certificate: it may have expired since.
  if (!socket.authorized) return { badCertificate: String(socket.authorizationError ?? 'not verified') };
  const key = `${authorities.frontProxy}${shown.raw.toString('latin1')}`;
  let known = perCertificate.get(key);
  if (known === undefined) {
    known = inspectCertificate(shown, socket, authorities);
    if (perCertificate.size >= REMEMBERED) perCertificate.delete(perCertificate.keys().next().value!);
    perCertificate.set(key, known);
  }
  return known;
}

function inspectCertificate(leaf: X509Certificate, socket: TLSSocket, authorities: ClientAuthorities): Known {
  const peer = socket.getPeerCertificate(true);
  const subject = peer.subject as unknown as Record<string, string | string[] | undefined>;
  const commonName = first(subject.CN);
  const certificate = {
    commonName,
    organizations: subject.O === undefined ? [] : ([] as string[]).concat(subject.O),
    uid: subject['1.3.6.1.4.1.57683.2'] === undefined ? undefined : first(subject['1.3.6.1.4.1.57683.2']),
    raw: peer.raw,
  };
  const viaProxyAuthority = authorities.frontProxy !== '' && leadsTo(leaf, peer, authorities.frontProxy);
  return viaProxyAuthority ? { frontProxyCommonName: commonName } : { certificate };
}

function first(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? '';
}

/** Whether the chain of a verified certificate ends at one of these authorities. */
function leadsTo(leaf: X509Certificate, peer: DetailedPeerCertificate, bundle: string): boolean {
  const roots = pemCertificates(bundle);
  let certificate = leaf;
  let detail = peer;
  for (let depth = 0; depth < 8; depth++) {
    if (roots.some((root) => isIssuedBy(certificate, root))) return true;
    const issuer = detail.issuerCertificate;
    if (issuer === undefined || issuer === null || issuer.raw === undefined || issuer.fingerprint256 === detail.fingerprint256)
      return false;
    certificate = new X509Certificate(issuer.raw);
    detail = issuer;
  }
  return false;
}

const parsedBundles = new Map<string, X509Certificate[]>();

function pemCertificates(bundle: string): X509Certificate[] {
  let parsed = parsedBundles.get(bundle);
  if (parsed === undefined) {
    parsed = certificateBlocks(bundle).map((pem) => new X509Certificate(pem));
    parsedBundles.set(bundle, parsed);
  }
  return parsed;
}
