import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { errorText } from '../../lib/log.ts';
import { closedError, TransportError } from '../transport-error.ts';

export interface ServerEndpoint {
  /** `https://host:port`, with an optional path that is put before every request's. */
  url: URL;
  /** The name that the server's certificate must hold, where it is not the host's. */
  tlsServerName?: string;
  insecureSkipTlsVerify?: boolean;
  /** `http://` or `https://`: requests travel through a CONNECT tunnel. */
  proxyUrl?: string;
}

export interface TlsMaterial {
  ca?: string;
  cert?: string;
  key?: string;
}

const CONNECT_TIMEOUT_MS = 30_000;

/** A connected socket: TLS for https, negotiated to one of `alpn`. @throws TransportError Unreachable, TlsFailed, and Closed when `closing` fires first */
export async function dial(endpoint: ServerEndpoint, tls: TlsMaterial, alpn: string[], closing?: AbortSignal): Promise<Socket | TLSSocket> {
  const raw = endpoint.proxyUrl === undefined ? undefined : await tunnel(endpoint, endpoint.proxyUrl);
  const { url } = endpoint;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol === 'http:') return raw ?? settled(connectTcp({ host, port: portOf(url) }), 'connect', endpoint, closing);
  const servername = endpoint.tlsServerName ?? (isIP(host) ? undefined : host);
  let socket: TLSSocket;
  try {
    socket = connectTls({
      ...(raw ? { socket: raw } : { host, port: portOf(url) }),
      ...(servername === undefined ? {} : { servername }),
      // Without a name in the TLS handshake the certificate is still checked against the address that was dialled.
      ...(servername === undefined && raw ? { host } : {}),
      ca: tls.ca,
      cert: tls.cert,
      key: tls.key,
      ALPNProtocols: alpn,
      rejectUnauthorized: endpoint.insecureSkipTlsVerify !== true,
      minVersion: 'TLSv1.2',
    });
  } catch (error) {
    throw new TransportError('TlsFailed', `Cannot use the client certificate for "${url.host}": ${errorText(error)}`, { cause: error });
  }
  return settled(socket, 'secureConnect', endpoint, closing);
}

function settled<S extends Socket>(
  socket: S,
  event: 'connect' | 'secureConnect',
  endpoint: ServerEndpoint,
  closing: AbortSignal | undefined,
): Promise<S> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error): void => {
      closing?.removeEventListener('abort', onClosing);
      socket.destroy();
      reject(error instanceof TransportError ? error : dialError(error, endpoint));
    };
    const onClosing = (): void => onError(closedError());
    if (closing?.aborted) return onClosing();
    closing?.addEventListener('abort', onClosing);
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => onError(new Error(`no connection within ${CONNECT_TIMEOUT_MS / 1000} s`)));
    socket.once('error', onError);
    socket.once('close', () => onError(new Error('the connection was closed during the handshake')));
    socket.once(event, () => {
      closing?.removeEventListener('abort', onClosing);
      socket.setTimeout(0);
      socket.removeAllListeners('close');
      socket.removeListener('error', onError);
      socket.setNoDelay(true);
      socket.setKeepAlive(true, 30_000);
      resolve(socket);
    });
  });
}

const TLS_CODES = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|ERR_OSSL|EPROTO|HOSTNAME_MISMATCH|INVALID_CA)/;

function dialError(error: Error, endpoint: ServerEndpoint): TransportError {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const { host } = endpoint.url;
  if (TLS_CODES.test(code)) {
    return new TransportError(
      'TlsFailed',
      `Cannot trust "${host}": ${error.message}; check certificate-authority-data and the server address`,
      {
        cause: error,
      },
    );
  }
  return new TransportError('Unreachable', `Cannot reach "${host}": ${errorText(error) || code}; is the server running?`, { cause: error });
}

function tunnel(endpoint: ServerEndpoint, proxyUrl: string): Promise<Socket> {
  const proxy = new URL(proxyUrl);
  if (proxy.protocol !== 'http:' && proxy.protocol !== 'https:') {
    throw new TransportError(
      'BadConfig',
      `Cannot use proxy-url "${proxy.protocol}//${proxy.host}": the scheme is not supported; use http or https`,
    );
  }
  const target = `${endpoint.url.hostname}:${portOf(endpoint.url)}`;
  const headers: Record<string, string> = { Host: target };
  if (proxy.username !== '') {
    const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
    headers['Proxy-Authorization'] = `Basic ${Buffer.from(login).toString('base64')}`;
  }
  const send = proxy.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const refuse = (text: string, cause?: unknown): void =>
      reject(new TransportError('Unreachable', `Cannot reach "${target}" through the proxy "${proxy.host}": ${text}`, { cause }));
    const request = send({
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: portOf(proxy),
      method: 'CONNECT',
      path: target,
      headers,
      agent: false,
      timeout: CONNECT_TIMEOUT_MS,
    });
    request.once('connect', (response, socket) => {
      if (response.statusCode === 200) resolve(socket);
      else {
        socket.destroy();
        refuse(`it answered ${response.statusCode}`);
      }
    });
    request.once('response', (response) => {
      response.destroy();
      refuse(`it answered ${response.statusCode}`);
    });
    request.once('timeout', () => request.destroy(new Error('no answer')));
    request.once('error', (error) => refuse(error.message, error));
    request.end();
  });
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}
