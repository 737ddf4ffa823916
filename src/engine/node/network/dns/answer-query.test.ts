import { describe, expect, it } from 'vitest';
import { decodeMessage, encodeMessage, RCODE, TYPE, type DnsMessage } from '../../../../lib/dns/message.ts';
import { answerQuery, type DnsServices } from './answer-query.ts';
import { TcpFrames, frameTcp } from './tcp-frames.ts';
import { nameservers } from './upstream.ts';

const many = Array.from({ length: 100 }, (_, i) => ({ addresses: [`10.1.0.${i}`] }));
const services: DnsServices = {
  domain: 'cluster.local',
  now: () => 5000,
  upstream: async () => undefined,
  records: {
    service: (_, name) =>
      name === 'db' ? { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'ns' }, spec: { clusterIP: 'None' } } : undefined,
    hasServices: () => true,
    slices: () => [{ apiVersion: '', kind: '', metadata: {}, addressType: 'IPv4', endpoints: many }],
    servicesAt: () => [],
    slicesWith: () => [],
    hasPod: () => false,
  },
};
const query = (change: Partial<DnsMessage> = {}): Buffer =>
  encodeMessage({
    id: 9,
    response: false,
    opcode: 0,
    authoritative: false,
    truncated: false,
    recursionDesired: true,
    recursionAvailable: false,
    rcode: 0,
    questions: [{ name: 'db.ns.svc.cluster.local', type: TYPE.A, class: 1 }],
    answers: [],
    authority: [],
    additional: [],
    ...change,
  });
const answer = async (packet: Buffer, transport: 'udp' | 'tcp' = 'udp') => {
  const bytes = await answerQuery(packet, transport, services);
  return bytes && { ...decodeMessage(bytes), bytes: bytes.length };
};

describe('answerQuery', () => {
  it('keeps to the size that the asker takes', async () => {
    expect(await answer(query())).toMatchObject({ truncated: true, answers: [] });
    const asked = await answer(query({ edns: { udpSize: 4096, version: 0 } }));
    expect(asked).toMatchObject({ truncated: true, edns: { udpSize: 1232 } });
    expect((await answer(query(), 'tcp'))!.answers).toHaveLength(100);
  });

  it.each<[string, Buffer, number | undefined]>([
    ['an answer with nothing', query({ response: true }), undefined],
    ['garbage with nothing', Buffer.from('hello'), undefined],
    ['half a question with FORMERR', query().subarray(0, 20), RCODE.FORMERR],
    [
      'two questions with FORMERR',
      query({
        questions: [
          { name: 'a', type: 1, class: 1 },
          { name: 'b', type: 1, class: 1 },
        ],
      }),
      RCODE.FORMERR,
    ],
    ['an update with NOTIMP', query({ opcode: 5 }), RCODE.NOTIMP],
    ['another class with REFUSED', query({ questions: [{ name: 'a', type: 1, class: 3 }] }), RCODE.REFUSED],
    ['names of elsewhere with SERVFAIL, when nobody knows', query({ questions: [{ name: 'a.test', type: 1, class: 1 }] }), RCODE.SERVFAIL],
    ['what is not there with NXDOMAIN', query({ questions: [{ name: 'x.cluster.local', type: 1, class: 1 }] }), RCODE.NXDOMAIN],
  ])('answers %s', async (_, packet, rcode) => {
    expect((await answer(packet))?.rcode).toBe(rcode);
  });
});

describe('DNS over TCP', () => {
  it('finds the messages however the bytes arrive', () => {
    const found: string[] = [];
    const frames = new TcpFrames((message) => found.push(message.toString()));
    const bytes = Buffer.concat([frameTcp(Buffer.from('one')), frameTcp(Buffer.from('three'))]);
    for (const byte of bytes) frames.push(Buffer.from([byte]));
    frames.push(bytes);
    expect(found).toEqual(['one', 'three', 'one', 'three']);
  });
});

it('nameservers are read from resolv.conf, three at most', () => {
  expect(nameservers('# nameserver 1.1.1.1\nnameserver 10.0.0.2\n nameserver fd00::1\nnameserver 10.0.0.2\nsearch x\n')).toEqual([
    '10.0.0.2',
    'fd00::1',
  ]);
});
