import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMessage, DnsFormatError, encodeMessage, type DnsMessage, type DnsRecord } from './message.ts';

function message(part: Partial<DnsMessage> = {}): DnsMessage {
  return {
    id: 7,
    response: true,
    opcode: 0,
    authoritative: true,
    truncated: false,
    recursionDesired: true,
    recursionAvailable: true,
    rcode: 0,
    questions: [{ name: 'web.default.svc.cluster.local', type: 1, class: 1 }],
    answers: [],
    authority: [],
    additional: [],
    ...part,
  };
}

const label = fc.stringMatching(/^[a-z0-9_.\\-]{1,20}$/).map((text) => text.replaceAll(/[.\\]/g, (c) => `\\${c}`));
const name = fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join('.'));
const uint16 = fc.integer({ min: 0, max: 0xffff });
const uint32 = fc.integer({ min: 0, max: 0xffff_ffff });
const address = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 4, maxLength: 4 }).map((bytes) => bytes.join('.'));
const data = fc.oneof(
  fc.record({ type: fc.constant('A' as const), address }),
  fc.record({ type: fc.constantFrom('CNAME' as const, 'PTR' as const), target: name }),
  fc.record({ type: fc.constant('SRV' as const), priority: uint16, weight: uint16, port: uint16, target: name }),
  fc.record({ type: fc.constant('TXT' as const), text: fc.stringMatching(/^[ -~]{0,40}$/) }),
  fc.record({
    type: fc.constant('SOA' as const),
    primary: name,
    mailbox: name,
    serial: uint32,
    refresh: uint32,
    retry: uint32,
    expire: uint32,
    minimum: uint32,
  }),
);
const record = fc.tuple(name, uint32, data).map(([owner, ttl, rest]) => ({ name: owner, ttl, ...rest }));

describe('DNS messages', () => {
  it('come back as they were written', () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 8 }), fc.array(record, { maxLength: 3 }), uint16, (answers, additional, id) => {
        const sent = message({ id, answers, additional, edns: { udpSize: 1232, version: 0 } });
        expect(decodeMessage(encodeMessage(sent))).toEqual(sent);
      }),
    );
  });

  it('are refused as such and never otherwise, whatever the bytes', () => {
    const valid = encodeMessage(message({ answers: [{ name: 'a.b', ttl: 1, type: 'CNAME', target: 'c.b' }] }));
    const read = (bytes: Buffer): void => {
      try {
        decodeMessage(bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(DnsFormatError);
      }
    };
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => read(Buffer.from(bytes))));
    fc.assert(
      fc.property(fc.nat(valid.length - 1), fc.nat(255), fc.nat(valid.length), (at, value, length) => {
        const bytes = Buffer.from(valid);
        bytes[at] = value;
        read(bytes.subarray(0, length));
      }),
    );
  });

  it('share the ends of names', () => {
    const answers: DnsRecord[] = Array.from({ length: 10 }, (_, i) => ({
      name: 'web.default.svc.cluster.local',
      ttl: 5,
      type: 'A',
      address: `10.0.0.${i}`,
    }));
    expect(encodeMessage(message({ answers })).length).toBe(12 + 31 + 4 + 10 * 16);
  });

  it('ask to come again over TCP, when they are longer than the limit', () => {
    const answers: DnsRecord[] = Array.from({ length: 100 }, () => ({ name: 'web', ttl: 5, type: 'A', address: '10.0.0.1' }));
    const cut = decodeMessage(encodeMessage(message({ answers }), 512));
    expect(cut).toMatchObject({ truncated: true, answers: [], questions: [{ name: 'web.default.svc.cluster.local' }] });
  });

  it('are refused, when a pointer leads in a circle', () => {
    const bytes = encodeMessage(message());
    bytes[12] = 0xc0;
    bytes[13] = 12;
    expect(() => decodeMessage(bytes)).toThrow(DnsFormatError);
  });
});
