import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Service } from '../../src/client/kinds.ts';
import { frameTcp, TcpFrames } from '../../src/engine/node/network/dns/tcp-frames.ts';
import { bindUdp, connectTcp } from '../../src/engine/node/network/kernel/sockets.ts';
import { inNamespace } from '../../src/engine/node/network/kernel/namespaces.ts';
import { decodeMessage, encodeMessage, RCODE, TYPE, type DnsMessage } from '../../src/lib/dns/message.ts';
import type { Json } from '../../src/kube/object.ts';
import { World, type WorldPod } from './network-world.ts';

const DNS = '10.0.0.10';
let world: World;
let client: WorldPod;
let member: WorldPod;
let web: string;
beforeAll(async () => {
  world = await World.start();
  await world.namespace('app');
  client = await world.pod('app', 'client');
  member = await world.pod('app', 'db-0', {
    labels: { app: 'db' },
    ports: [{ name: 'sql', containerPort: 5432 }],
    hostname: 'db-0',
    subdomain: 'db',
  });
  web = await service('web', { selector: { app: 'db' }, ports: [{ name: 'http', port: 80, targetPort: 5432 }] });
  await service('db', { clusterIP: 'None', selector: { app: 'db' }, ports: [{ name: 'sql', port: 5432 }] });
  await service('alias', { type: 'ExternalName', externalName: 'web.app.svc.cluster.local' });
  await world.until(async () => (await ask('db.app.svc.cluster.local')).answers.length > 0);
}, 120_000);
afterAll(() => world.close());

async function service(name: string, spec: Json): Promise<string> {
  const created = await world.client.resource(Service, 'app').create({ metadata: { name, namespace: 'app' }, spec });
  return created.spec!.clusterIP ?? '';
}

function query(name: string, type: number, edns?: number): Buffer {
  return encodeMessage({
    id: 4711,
    response: false,
    opcode: 0,
    authoritative: false,
    truncated: false,
    recursionDesired: true,
    recursionAvailable: false,
    rcode: 0,
    questions: [{ name, type, class: 1 }],
    answers: [],
    authority: [],
    additional: [],
    ...(edns ? { edns: { udpSize: edns, version: 0 } } : {}),
  });
}

async function ask(name: string, type: number = TYPE.A, edns?: number): Promise<DnsMessage> {
  const socket = await bindUdp(client.place, { address: '0.0.0.0', port: 0 });
  try {
    return await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer for ${name}`)), 5000);
      socket.on('message', (answer) => {
        clearTimeout(timer);
        resolve(decodeMessage(answer));
      });
      socket.send(query(name, type, edns), 53, DNS);
    });
  } finally {
    socket.close();
  }
}

async function askTcp(name: string): Promise<DnsMessage> {
  const socket = await connectTcp(client.place, { address: DNS, port: 53 });
  return new Promise((resolve, reject) => {
    const frames = new TcpFrames((answer) => {
      socket.destroy();
      resolve(decodeMessage(answer));
    });
    socket.on('data', (chunk) => frames.push(chunk));
    socket.on('error', reject);
    socket.write(frameTcp(query(name, TYPE.A)));
  });
}

describe('cluster DNS', () => {
  it('is understood by a resolver of the system', async () => {
    const output = await new Promise<string>((resolve, reject) => {
      inNamespace(client.place, () =>
        execFile('busybox', ['nslookup', 'web.app.svc.cluster.local', DNS], { timeout: 10_000 }, (error, text) =>
          error && text === '' ? reject(error) : resolve(text),
        ),
      );
    });
    expect(output).toContain(`Address: ${web}`);
  });

  it('knows Services, whatever the case of the name, over UDP and TCP', async () => {
    expect((await ask('WEB.app.svc.Cluster.Local')).answers).toEqual([
      { name: 'WEB.app.svc.Cluster.Local', ttl: 5, type: 'A', address: web },
    ]);
    expect((await askTcp('web.app.svc.cluster.local')).answers).toMatchObject([{ type: 'A', address: web }]);
    expect((await ask('kubernetes.default.svc.cluster.local')).answers).toMatchObject([{ type: 'A', address: '10.0.0.1' }]);
  });

  it('knows Pods behind a headless Service, by their names too', async () => {
    for (const name of ['db.app.svc.cluster.local', 'db-0.db.app.svc.cluster.local']) {
      expect((await ask(name)).answers).toMatchObject([{ type: 'A', address: member.address }]);
    }
    const dashed = member.address.replaceAll('.', '-');
    expect((await ask(`${dashed}.app.pod.cluster.local`)).answers).toMatchObject([{ type: 'A', address: member.address }]);
    expect((await ask(`${dashed}.default.pod.cluster.local`)).rcode).toBe(RCODE.NXDOMAIN);
  });

  it('knows ports by name', async () => {
    expect((await ask('_http._tcp.web.app.svc.cluster.local', TYPE.SRV)).answers).toMatchObject([
      { type: 'SRV', port: 80, target: 'web.app.svc.cluster.local' },
    ]);
    const { answers, additional } = await ask('_sql._tcp.db.app.svc.cluster.local', TYPE.SRV, 1232);
    expect(answers).toMatchObject([{ type: 'SRV', port: 5432, target: 'db-0.db.app.svc.cluster.local' }]);
    expect(additional).toMatchObject([{ type: 'A', address: member.address }]);
  });

  it('knows the names of addresses', async () => {
    const reverse = (address: string): string => `${address.split('.').reverse().join('.')}.in-addr.arpa`;
    expect((await ask(reverse(web), TYPE.PTR)).answers).toMatchObject([{ type: 'PTR', target: 'web.app.svc.cluster.local' }]);
    expect((await ask(reverse(member.address), TYPE.PTR)).answers).toMatchObject([
      { type: 'PTR', target: 'db-0.db.app.svc.cluster.local' },
    ]);
  });

  it('follows aliases', async () => {
    expect((await ask('alias.app.svc.cluster.local')).answers).toMatchObject([
      { type: 'CNAME', target: 'web.app.svc.cluster.local' },
      { name: 'web.app.svc.cluster.local', type: 'A', address: web },
    ]);
  });

  it('tells names that are not there from names without such a record', async () => {
    const missing = await ask('nobody.app.svc.cluster.local');
    expect(missing).toMatchObject({ rcode: RCODE.NXDOMAIN, authoritative: true, authority: [{ type: 'SOA', ttl: 5, minimum: 5 }] });
    expect(await ask('web.app.svc.cluster.local', TYPE.AAAA)).toMatchObject({
      rcode: RCODE.NOERROR,
      answers: [],
      authority: [{ type: 'SOA' }],
    });
    expect((await ask('app.svc.cluster.local')).rcode).toBe(RCODE.NOERROR);
    expect((await ask('nowhere.svc.cluster.local')).rcode).toBe(RCODE.NXDOMAIN);
  });

  it('is reached under a policy that lets out to the DNS Pods of other clusters', async () => {
    await world.policy('app', 'dns-only', {
      podSelector: {},
      policyTypes: ['Egress'],
      egress: [
        {
          to: [
            {
              namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
              podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
            },
          ],
          ports: [{ port: 53, protocol: 'UDP' }],
        },
      ],
    });
    await world.until(async () => (await world.ask(client, '10.0.0.1', 443, 150).catch(() => '')) === undefined);
    expect((await ask('web.app.svc.cluster.local')).answers).toHaveLength(1);
    await expect(connectTcp(client.place, { address: DNS, port: 53 }, { timeoutMs: 200 })).rejects.toThrow('no answer in time');
    await world.removePolicy('app', 'dns-only');
    await world.until(async () => (await askTcp('web.app.svc.cluster.local').catch(() => undefined)) !== undefined);
  });
});

describe('names of elsewhere', () => {
  it('are asked of the resolvers of the machine, and fail when there are none', async () => {
    const resolvConf = join(world.dir, 'resolv.conf');
    const elsewhere = createSocket('udp4');
    await new Promise<void>((resolve, reject) => {
      elsewhere.once('error', reject);
      elsewhere.bind(53, '127.5.4.3', resolve);
    });
    elsewhere.on('message', (packet, from) => {
      const asked = decodeMessage(packet);
      const [{ name }] = asked.questions;
      elsewhere.send(
        encodeMessage({ ...asked, response: true, answers: [{ name, ttl: 60, type: 'A', address: '192.0.2.7' }] }),
        from.port,
        from.address,
      );
    });
    writeFileSync(resolvConf, 'nameserver 127.5.4.3\n');
    const other = await World.start({ resolvConf });
    const [before, beforeClient] = [world, client];
    try {
      world = other;
      await other.namespace('app');
      client = await other.pod('app', 'client');
      await service('outside', { type: 'ExternalName', externalName: 'example.test' });
      expect((await ask('example.test')).answers).toMatchObject([{ name: 'example.test', address: '192.0.2.7' }]);
      await other.until(async () => (await ask('outside.app.svc.cluster.local')).answers.length > 0);
      expect((await ask('outside.app.svc.cluster.local')).answers).toMatchObject([
        { type: 'CNAME', target: 'example.test' },
        { name: 'example.test', address: '192.0.2.7' },
      ]);
      writeFileSync(resolvConf, '# none\n');
      await other.until(async () => (await ask('example.test')).rcode === RCODE.SERVFAIL);
    } finally {
      world = before;
      client = beforeClient;
      elsewhere.close();
      await other.close();
    }
  }, 60_000);
});
