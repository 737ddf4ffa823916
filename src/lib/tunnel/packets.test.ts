import { expect, it } from 'vitest';
import { decodePacket, encodePacket, type Packet } from './packets.ts';

const data = new Uint8Array([1, 2, 3]);

it.each<[string, Packet, string]>([
  // As Go's protobuf writes them.
  ['a wish for a connection', { type: 'DIAL_REQ', protocol: 'tcp', address: 'w:1', random: 300n }, '120d0a03746370120377 3a3118ac02'],
  ['a connection', { type: 'DIAL_RSP', error: '', connectId: 1n, random: 300n }, '08011a05100118ac02'],
  ['a refusal', { type: 'DIAL_RSP', error: 'no', connectId: 0n, random: 7n }, '08011a060a026e6f1807'],
  ['data', { type: 'DATA', connectId: 1n, error: '', data }, '0804220708011a03010203'],
  ['a wish to close', { type: 'CLOSE_REQ', connectId: 5n }, '08022a020805'],
  ['a close', { type: 'CLOSE_RSP', error: '', connectId: 5n }, '080332021005'],
  ['a dial that is over', { type: 'DIAL_CLS', random: 9n }, '08053a020809'],
  ['a drain', { type: 'DRAIN' }, '08064200'],
])('%s is written and read as konnectivity does', (_name, packet, bytes) => {
  const hex = bytes.replaceAll(' ', '');
  expect(encodePacket(packet).toString('hex')).toBe(hex);
  const read = decodePacket(Buffer.from(hex, 'hex'))!;
  expect('data' in read ? { ...read, data: new Uint8Array(read.data) } : read).toEqual(packet);
});

it('numbers have 64 bits', () => {
  const random = 9_223_372_036_854_775_807n;
  expect(decodePacket(encodePacket({ type: 'DIAL_CLS', random }))).toEqual({ type: 'DIAL_CLS', random });
});

it.each([
  ['a torn length', '2205'],
  ['a torn number', '08'],
  ['a number that never ends', `08${'ff'.repeat(11)}`],
])('%s is an error', (_name, hex) => {
  expect(() => decodePacket(Buffer.from(hex, 'hex'))).toThrow(RangeError);
});

it('a kind of packet that is not known is left out', () => {
  expect(decodePacket(Buffer.from('0863', 'hex'))).toBeUndefined();
});
