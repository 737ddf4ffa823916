import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type RequestOptions, type Server } from 'node:http';
import { request as secureRequest } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { createSecureContext } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { issueSelfSigned, type CertificateTemplate } from '../../../../lib/pki/certificate.ts';
import { IngressProxy } from './ingress-proxy.ts';
import type { Endpoint } from './model/endpoints.ts';
import { routingOf, type IngressObject } from './model/routes.ts';

const anIngress = (spec: IngressObject['spec']): IngressObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { name: 'a', namespace: 'web' },
  spec,
});
const rules = [
  {
    host: 'shop.example',
    http: { paths: [{ path: '/', pathType: 'Prefix' as const, backend: { service: { name: 'front', port: { number: 80 } } } }] },
  },
];

function certificateOf(name: string): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const template: CertificateTemplate = {
    subject: { commonName: name, organizations: [] },
    publicKey,
    usages: ['digital signature', 'cert sign', 'server auth'],
    isAuthority: true,
    notBefore: new Date('2026-01-01'),
    notAfter: new Date('2049-01-01'),
    alternativeNames: { dnsNames: [name] },
  };
  return { cert: issueSelfSigned(template, privateKey), key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

describe('IngressProxy', () => {
  let pod: Server;
  let proxy: IngressProxy;
  let endpoints: Endpoint[] | undefined;
  let routing = routingOf([anIngress({ rules })]);
  const pair = certificateOf('shop.example');
  const seen: IncomingMessage[] = [];
  const portOf = (server: Server): number => (server.address() as AddressInfo).port;

  beforeEach(async () => {
    seen.length = 0;
    pod = createServer((message, response) => {
      seen.push(message);
      let text = '';
      message.on('data', (chunk) => (text += chunk));
      message.on('end', () => response.setHeader('x-pod', '1').end(`${message.method} ${message.url} ${text}`));
    }).listen(0, '127.0.0.1');
    pod.on('upgrade', (_message, socket, head) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\n');
      socket.write(head);
      socket.pipe(socket);
    });
    await once(pod, 'listening');
    endpoints = [{ address: '127.0.0.1', port: portOf(pod) }];
    routing = routingOf([anIngress({ rules })]);
    proxy = new IngressProxy({
      routing: () => routing,
      endpoints: () => endpoints,
      certificateFor: (name) => (name === 'shop.example' ? createSecureContext(pair) : undefined),
    });
    await Promise.all([proxy.plain, proxy.secure].map((server) => once(server.listen(0, '127.0.0.1'), 'listening')));
  });

  afterEach(async () => {
    proxy.secure.closeAllConnections();
    proxy.plain.closeAllConnections();
    await proxy.close();
    pod.closeAllConnections();
    pod.close();
  });

  async function ask(
    path: string,
    options: RequestOptions & { body?: string } = {},
  ): Promise<{ status: number; text: string; headers: IncomingMessage['headers'] }> {
    const sent = request({ port: portOf(proxy.plain), path, headers: { host: 'shop.example' }, ...options });
    sent.end(options.body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of answer) text += String(chunk);
    return { status: answer.statusCode!, text, headers: answer.headers };
  }

  it('passes requests on, and tells the Pod who asked', async () => {
    const { status, text, headers } = await ask('/a?b=1', { method: 'POST', body: 'hello' });
    expect([status, text, headers['x-pod']]).toEqual([200, 'POST /a?b=1 hello', '1']);
    expect(seen[0].headers).toMatchObject({
      host: 'shop.example',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'shop.example',
    });
  });

  it.each<[what: string, options: RequestOptions, change: () => void, status: number, text: RegExp]>([
    ['a host that nobody has', { headers: { host: 'other.example' } }, () => {}, 404, /^No Ingress is for other\.example\/x\.$/m],
    ['a Service that is not there', {}, () => (endpoints = undefined), 503, /is not there/],
    ['a Service without Pods', {}, () => (endpoints = []), 503, /No Pod behind this address is ready/],
    ['Pods that do not answer', {}, () => (endpoints = [{ address: '127.0.0.1', port: 1 }]), 502, /did not answer/],
  ])('says clearly what is wrong with %s', async (_what, options, change, status, text) => {
    change();
    const answer = await ask('/x', options);
    expect(answer.status).toBe(status);
    expect(answer.text).toMatch(text);
  });

  it('goes to another Pod when one is gone, with the whole of the request', async () => {
    endpoints = [{ address: '127.0.0.1', port: 1 }, endpoints![0]];
    for (let time = 0; time < 4; time++) expect((await ask('/a', { method: 'PUT', body: 'whole' })).text).toBe('PUT /a whole');
  });

  it('keeps connections while what it knows changes', async () => {
    const socket = connect(portOf(proxy.plain), '127.0.0.1');
    const say = async (host: string): Promise<string> => {
      socket.write(`GET / HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      return chunk.toString().split('\r\n')[0];
    };
    expect(await say('new.example')).toContain('404');
    routing = routingOf([anIngress({ rules: [{ ...rules[0], host: 'new.example' }] })]);
    expect(await say('new.example')).toContain('200');
    socket.destroy();
  });

  it('lets WebSockets and the like through', async () => {
    const socket = connect(portOf(proxy.plain), '127.0.0.1');
    let heard = '';
    socket.on('data', (chunk) => (heard += chunk.toString()));
    socket.write('GET /socket HTTP/1.1\r\nhost: shop.example\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\n');
    while (!heard.includes('101')) await once(socket, 'data');
    socket.write('back and forth');
    while (!heard.includes('back and forth')) await once(socket, 'data');
    socket.destroy();
  });

  it('has the certificate of the name that is asked for, and none for others', async () => {
    const dial = async (servername: string): Promise<string> => {
      const sent = secureRequest({ port: portOf(proxy.secure), servername, ca: pair.cert, headers: { host: servername } }).end();
      try {
        const [answer] = (await once(sent, 'response')) as [IncomingMessage];
        answer.resume();
        return String(answer.statusCode);
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    expect(await dial('shop.example')).toBe('200');
    expect(seen[0].headers['x-forwarded-proto']).toBe('https');
    expect(await dial('other.example')).not.toBe('200');
  });

  it('sends plain requests for a host with a certificate to the secure port', async () => {
    routing = routingOf([anIngress({ rules, tls: [{ hosts: ['shop.example'], secretName: 'cert' }] })]);
    const { status, headers } = await ask('/a?b=1');
    expect([status, headers.location]).toEqual([308, 'https://shop.example/a?b=1']);
  });
});
