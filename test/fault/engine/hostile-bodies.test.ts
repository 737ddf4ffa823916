import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, CallOptions } from '../../support/api-target.ts';
import { expectQuietLoop, whileMeasured, whileQuiet } from '../../support/event-loop-promise.ts';
import { startMeasuredEngine, type MeasuredEngine } from '../../support/measured-engine.ts';

/** Promise: no body, however it is made, holds up the others, grows memory or gets anything but a clear answer. */
const PATH = '/api/v1/namespaces/default/configmaps';
const PODS = '/api/v1/namespaces/default/pods';
const MERGE = 'application/merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const APPLY = 'application/apply-patch+yaml';
const MANY = 9900;

let engine: MeasuredEngine;

beforeAll(async () => {
  engine = await startMeasuredEngine();
  // The code must be warm: what is measured is the work, not the compiler.
  for (let i = 0; i < 60; i++) await call('POST', PATH, { metadata: { name: `warm${i}` }, data: { a: 'b' } });
  for (let i = 0; i < 60; i++) await call('PATCH', `${PATH}/warm${i}`, { data: { c: 'd' } }, { contentType: MERGE });
  await call('POST', PATH, { metadata: { name: 'warm-large' }, data: keys(4000) });
  for (let i = 0; i < 3; i++) {
    for (const contentType of [MERGE, STRATEGIC])
      await call('PATCH', `${PATH}/warm-large`, { data: keys(4000, `${contentType}${i}`) }, { contentType });
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'warm-large' }, data: keys(4000, `a${i}`) };
    await call('PATCH', `${PATH}/warm-large?fieldManager=w&force=true`, applied, { contentType: APPLY });
  }
}, 60_000);
afterAll(() => engine.stop(), 30_000);

function call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer> {
  return engine.target.request(method, path, body, options);
}

function keys(count: number, value: unknown = 'v'): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`key-${i}`, value]));
}

function repeat<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

const bomb = ['a0: &a0 [x,x,x,x,x,x,x,x,x]', ...repeat(9, (i) => `a${i + 1}: &a${i + 1} [${repeat(9, () => `*a${i}`).join(',')}]`)].join(
  '\n',
);
const nested = (open: string, close: string, depth: number) =>
  `{"metadata":{"name":"x"},"data":${open.repeat(depth)}${close.repeat(depth)}}`;
const patch = (contentType: string): CallOptions => ({ contentType });

interface HostileBody {
  name: string;
  status: number;
  message?: RegExp;
  /** Repeated when it was slow, so that each round must be new work. */
  send(round: number): Promise<Answer>;
}

const refused: HostileBody[] = [
  { name: '50 MB', status: 413, message: /limit is 3145728/, send: () => call('POST', PATH, 'x'.repeat(50_000_000)) },
  { name: 'objects 1,001 deep', status: 400, message: /exceeded max depth/, send: () => call('POST', PATH, nested('{"a":', '}', 1001)) },
  {
    name: 'objects 100,000 deep',
    status: 400,
    message: /exceeded max depth/,
    send: () => call('POST', PATH, nested('{"a":', '}', 100_000)),
  },
  { name: 'lists 1,500,000 deep', status: 400, message: /exceeded max depth/, send: () => call('POST', PATH, nested('[', ']', 1_500_000)) },
  { name: 'objects that never close', status: 400, message: /exceeded max depth/, send: () => call('POST', PATH, '{"a":'.repeat(500_000)) },
  {
    name: 'a create with 170,000 keys',
    status: 413,
    message: /values/,
    send: () => call('POST', PATH, { metadata: { name: 'x' }, data: keys(170_000) }),
  },
  {
    name: '200,000 unknown fields',
    status: 413,
    message: /values/,
    send: () => call('POST', PATH, { metadata: { name: 'x' }, ...keys(200_000, 1) }),
  },
  {
    name: '550,000 nulls',
    status: 413,
    message: /values/,
    send: () => call('POST', PODS, { metadata: { name: 'x' }, spec: { containers: Array(550_000).fill(null) } }),
  },
  {
    name: 'a merge patch with 200,000 keys',
    status: 413,
    send: () => call('PATCH', `${PATH}/warm0`, { data: keys(200_000) }, patch(MERGE)),
  },
  {
    name: 'a strategic patch with 200,000 keys',
    status: 413,
    send: () => call('PATCH', `${PATH}/warm0`, { data: keys(200_000) }, patch(STRATEGIC)),
  },
  {
    name: 'an apply with 200,000 keys',
    status: 413,
    send: () => call('PATCH', `${PATH}/x?fieldManager=a`, { apiVersion: 'v1', kind: 'ConfigMap', data: keys(200_000) }, patch(APPLY)),
  },
  {
    name: 'a JSON patch of 10,001 operations',
    status: 413,
    message: /maximum operations in a JSON patch is 10000, got 10001/,
    send: () =>
      call(
        'PATCH',
        `${PATH}/warm1`,
        repeat(10_001, (i) => ({ op: 'add', path: `/data/k${i}`, value: 'x' })),
        patch(JSON_PATCH),
      ),
  },
  {
    name: 'a JSON patch whose copies double',
    status: 422,
    send: () =>
      call(
        'PATCH',
        `${PATH}/warm2`,
        [
          { op: 'add', path: '/data/x', value: { a: 'y'.repeat(10) } },
          ...repeat(60, (i) => ({ op: 'copy', from: '/data/x', path: `/data/x/c${i}` })),
        ],
        patch(JSON_PATCH),
      ),
  },
  {
    name: 'a YAML bomb in a create',
    status: 400,
    message: /alias/,
    send: () => call('POST', PATH, `metadata: {name: y}\n${bomb}\n`, patch('application/yaml')),
  },
  {
    name: 'a YAML bomb in an apply',
    status: 400,
    message: /alias/,
    send: () => call('PATCH', `${PATH}/y?fieldManager=a`, `apiVersion: v1\nkind: ConfigMap\n${bomb}\n`, patch(APPLY)),
  },
  {
    name: 'YAML of 3 MB',
    status: 413,
    message: /for YAML/,
    send: () => call('POST', PATH, '- '.repeat(1_500_000), patch('application/yaml')),
  },
  {
    name: 'YAML nested 100,000 deep',
    status: 400,
    message: /YAML/,
    send: () => call('POST', PATH, '['.repeat(100_000), patch('application/yaml')),
  },
];

const accepted: HostileBody[] = [
  {
    name: 'a create of as many values as allowed',
    status: 201,
    send: (round) => call('POST', PATH, { metadata: { name: `many${round}` }, data: keys(MANY) }),
  },
  {
    name: 'a PUT of it',
    status: 200,
    send: (round) => call('PUT', `${PATH}/many0`, { metadata: { name: 'many0' }, data: keys(MANY, `w${round}`) }),
  },
  {
    name: 'a merge patch over it',
    status: 200,
    send: (round) => call('PATCH', `${PATH}/many0`, { data: keys(MANY, `z${round}`) }, patch(MERGE)),
  },
  {
    name: 'a patch of one field of it',
    status: 200,
    send: (round) => call('PATCH', `${PATH}/many0`, { data: { 'key-7': `changed${round}` } }, patch(MERGE)),
  },
  {
    name: 'a strategic patch over it',
    status: 200,
    send: (round) => call('PATCH', `${PATH}/many0`, { data: keys(MANY, `y${round}`) }, patch(STRATEGIC)),
  },
  {
    name: 'an apply over it',
    status: 200,
    send: (round) =>
      call(
        'PATCH',
        `${PATH}/many0?fieldManager=a&force=true`,
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'many0' }, data: keys(MANY - 10, `x${round}`) },
        patch(APPLY),
      ),
  },
  {
    name: 'a text of 1 MB',
    status: 201,
    send: (round) => call('POST', PATH, { metadata: { name: `text${round}` }, data: { a: 'x'.repeat(1_000_000) } }),
  },
  {
    name: '9,000 keys of which half repeat',
    status: 201,
    send: (round) =>
      call('POST', PATH, `{"metadata":{"name":"twice${round}"},"data":{${repeat(9000, (i) => `"k${i >> 1}":"v"`).join(',')}}}`),
  },
  {
    name: '9,000 finalizers',
    status: 201,
    send: (round) => call('POST', PATH, { metadata: { name: `final${round}`, finalizers: repeat(9000, (i) => `example.com/f${i}`) } }),
  },
  {
    name: 'Endpoints with 3,200 addresses',
    status: 201,
    send: (round) =>
      call('POST', '/api/v1/namespaces/default/endpoints', {
        metadata: { name: `addresses${round}` },
        subsets: [{ addresses: repeat(3200, (i) => ({ ip: `10.1.${i >> 8}.${i & 255}`, nodeName: 'n' })), ports: [{ port: 80 }] }],
      }),
  },
  {
    name: 'a NetworkPolicy with 3,000 ranges',
    status: 201,
    send: (round) =>
      call('POST', '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies', {
        metadata: { name: `ranges${round}` },
        spec: { podSelector: {}, ingress: [{ from: repeat(3000, (i) => ({ ipBlock: { cidr: `10.${i >> 8}.${i & 255}.0/24` } })) }] },
      }),
  },
  {
    name: 'a JSON patch of 4,000 operations',
    status: 200,
    send: (round) =>
      call(
        'PATCH',
        `${PATH}/warm${3 + round}`,
        repeat(4000, (i) => ({ op: 'add', path: `/data/k${i}`, value: 'x' })),
        patch(JSON_PATCH),
      ),
  },
  {
    name: 'a Pod with 1,600 variables',
    status: 201,
    send: (round) =>
      call('POST', PODS, {
        metadata: { name: `env${round}` },
        spec: { containers: [{ name: 'a', image: 'b', env: repeat(1600, (i) => ({ name: `k${i}`, value: 'x' })) }] },
      }),
  },
  {
    name: 'other values for all of them, strategically',
    status: 422,
    send: () =>
      call(
        'PATCH',
        `${PODS}/env0`,
        { spec: { containers: [{ name: 'a', env: repeat(1600, (i) => ({ name: `k${1599 - i}`, value: 'y' })) }] } },
        patch(STRATEGIC),
      ),
  },
];

describe.each([
  { title: 'is refused', bodies: refused },
  { title: 'is worked on in slices', bodies: accepted },
])('a hostile body $title', ({ bodies }) => {
  it.each(bodies)('$name', { timeout: 60_000 }, async ({ name, status, message, send }) => {
    await whileQuiet(engine, name, async (round) => {
      const { status: answered, body } = await send(round);
      expect(answered, JSON.stringify(body).slice(0, 300)).toBe(status);
      if (message !== undefined) expect(body.message).toMatch(message);
      if (status >= 400) expect(body).toMatchObject({ kind: 'Status', status: 'Failure', code: status });
    });
  });
});

describe('limits of a body', () => {
  it('patches that add up are refused where a single body would be', async () => {
    const { status, body } = await call(
      'PATCH',
      `${PATH}/many0`,
      { data: Object.fromEntries(repeat(9000, (i) => [`more-${i}`, 'v'])) },
      patch(MERGE),
    );
    expect([status, body.reason]).toEqual([413, 'RequestEntityTooLarge']);
  });

  it('a chunked body over 3 MiB is refused while it is still being sent, and a client that does not stop is cut', async () => {
    const socket = connectTls({ host: engine.url.hostname, port: Number(engine.url.port), ...engine.tls });
    await new Promise<void>((resolve) => void socket.once('secureConnect', resolve));
    socket.on('error', () => {});
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.write(`POST ${PATH} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`);
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
    let answeredAfter = 0;
    for (let sent = 0; sent < 100_000 && !socket.destroyed; sent++) {
      if (answer === '') answeredAfter = sent * 0x10000;
      if (!socket.write(chunk)) await Promise.race([closed, new Promise<void>((resolve) => void socket.once('drain', resolve))]);
      await new Promise(setImmediate);
    }
    // The answer is there although we went on sending, and in the end we are cut.
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answeredAfter).toBeLessThan(20_000_000);
    expect(socket.destroyed).toBe(true);
  });

  it('a body that trickles in takes nothing from the others', async () => {
    const slow = repeat(50, () => connectTls({ host: engine.url.hostname, port: Number(engine.url.port), ...engine.tls }));
    await Promise.all(slow.map((socket) => new Promise<void>((resolve) => void socket.once('secureConnect', resolve))));
    for (const socket of slow)
      socket.write(`POST ${PATH} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{`);
    const { result, report } = await whileMeasured(engine, async () => {
      for (let i = 0; i < 50; i++) {
        for (const socket of slow) socket.write(' ');
        expect((await call('GET', `${PATH}/warm1`)).status).toBe(200);
      }
      return 'done';
    });
    expect(result).toBe('done');
    expectQuietLoop(report, 'slow bodies');
    for (const socket of slow) socket.destroy();
  });

  it.each([
    ['URL', () => call('GET', `${PATH}?x=${'a'.repeat(100_000)}`)],
    ['header', () => call('GET', PATH, undefined, { headers: { 'x-a': 'a'.repeat(100_000) } })],
  ])('a %s of 100 KB is refused with 431', async (_, send) => {
    expect((await send()).status).toBe(431);
  });

  it.each(['labelSelector', 'fieldSelector'])('a %s of 10 KB is answered', async (name) => {
    const term = name === 'labelSelector' ? (i: number) => `k${i}!=v` : (i: number) => `metadata.name!=v${i}`;
    const result = await whileQuiet(engine, name, () =>
      call('GET', `${PATH}?${name}=${encodeURIComponent(repeat(400, term).join(','))}&limit=20`),
    );
    expect(result.status).toBe(200);
  });

  it('memory is what it was before', async () => {
    await engine.collectGarbage();
    const { heap, external } = await engine.report();
    expect((heap + external) / 1e6).toBeLessThan(150);
  });
});
