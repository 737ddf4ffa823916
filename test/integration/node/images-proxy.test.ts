import { createServer, request as httpRequest, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { aRegistry, fileIn, HELLO, imagesWith, request } from './images-bench.ts';
import { testCertificate } from './images-certificate.ts';

/** A proxy as companies have them. It sends everything to loopback, so that any name can be used. */
interface TestProxy {
  url: string;
  seen: string[];
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function aProxy(answer = 200): Promise<TestProxy> {
  const seen: string[] = [];
  const server = createServer((incoming, response) => {
    const { pathname, port, host } = new URL(incoming.url!);
    seen.push(`${incoming.method} ${host} ${incoming.headers['proxy-authorization'] ?? ''}`);
    httpRequest({ host: '127.0.0.1', port, path: pathname, headers: incoming.headers }, (from) => {
      response.writeHead(from.statusCode!, from.headers);
      from.pipe(response);
    }).end();
  });
  server.on('connect', (incoming, socket) => {
    seen.push(`CONNECT ${incoming.url} ${incoming.headers['proxy-authorization'] ?? ''}`);
    if (answer !== 200) {
      socket.end(`HTTP/1.1 ${answer} No\r\n\r\n`);
      return;
    }
    const target = connect(Number(incoming.url!.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      target.pipe(socket).pipe(target);
    });
    for (const end of [socket, target]) end.on('error', () => end.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  return { url: `http://me:secret@127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const LOGIN = `Basic ${Buffer.from('me:secret').toString('base64')}`;

describe('through a proxy', () => {
  test('a registry by TLS is reached by a tunnel, and its certificate is looked at as ever', async () => {
    const tls = testCertificate('registry.test');
    const registry = await aRegistry({ tls });
    registry.push('app', 'latest', { layers: HELLO });
    const host = registry.host.replace('127.0.0.1', 'registry.test');
    const proxy = await aProxy();
    const settings = { httpsProxy: proxy.url, noProxy: '' };
    await expect(imagesWith(undefined, { proxy: settings }).ensure(request(`${host}/app`))).rejects.toThrow(
      `the certificate of ${host} is not trusted`,
    );
    const config = { registries: { [host]: { mirrors: [], insecure: false, ca: tls.cert } } };
    expect(fileIn(await imagesWith(config, { proxy: settings }).ensure(request(`${host}/app`)), 'etc/hello')).toBe('hello');
    expect(new Set(proxy.seen)).toEqual(new Set([`CONNECT ${host} ${LOGIN}`]));
    expect(registry.requests.length).toBeGreaterThan(0);
  });

  test('one by plain HTTP is asked by it', async () => {
    const registry = await aRegistry();
    registry.push('app', 'latest', { layers: HELLO });
    const host = registry.host.replace('127.0.0.1', 'registry.test');
    const proxy = await aProxy();
    const config = { registries: { [host]: { mirrors: [], insecure: true } } };
    const images = imagesWith(config, { proxy: { httpProxy: proxy.url, noProxy: '' } });
    expect(fileIn(await images.ensure(request(`${host}/app`)), 'etc/hello')).toBe('hello');
    expect(proxy.seen[0]).toBe(`GET ${host} ${LOGIN}`);
  });

  test('a proxy that says no is told, without its password', async () => {
    const proxy = await aProxy(407);
    const images = imagesWith(undefined, { proxy: { httpsProxy: proxy.url, noProxy: '' } });
    const failure = await images.ensure(request('registry.test/app')).catch((error: unknown) => error as Error);
    expect((failure as Error).message).toMatch(
      /^Cannot pull "registry\.test\/app": the proxy 127\.0\.0\.1:\d+ does not let us through to registry\.test:443 \(it answered 407 No\)$/,
    );
  });

  test('a proxy that is not there is told', async () => {
    const images = imagesWith(undefined, { proxy: { httpsProxy: 'http://127.0.0.1:1', noProxy: '' } });
    await expect(images.ensure(request('registry.test/app'))).rejects.toThrow('the proxy 127.0.0.1:1 cannot be used (connect ECONNREFUSED');
  });
});
