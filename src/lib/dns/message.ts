import { DnsFormatError, NameWriter, readName } from './names.ts';

export { DnsFormatError } from './names.ts';

export const TYPE = { A: 1, CNAME: 5, SOA: 6, PTR: 12, TXT: 16, AAAA: 28, SRV: 33, OPT: 41, ANY: 255 } as const;
export const RCODE = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 } as const;
export const CLASS_IN = 1;

export interface DnsQuestion {
  name: string;
  type: number;
  class: number;
}

export type DnsRecord = { name: string; ttl: number } & (
  | { type: 'A'; address: string }
  | { type: 'CNAME' | 'PTR'; target: string }
  | { type: 'SRV'; priority: number; weight: number; port: number; target: string }
  | { type: 'TXT'; text: string }
  | { type: 'SOA'; primary: string; mailbox: string; serial: number; refresh: number; retry: number; expire: number; minimum: number }
  /** Anything else, as it came. */
  | { type: number; data: Buffer }
);

export interface DnsMessage {
  id: number;
  response: boolean;
  opcode: number;
  authoritative: boolean;
  truncated: boolean;
  recursionDesired: boolean;
  recursionAvailable: boolean;
  rcode: number;
  questions: DnsQuestion[];
  answers: DnsRecord[];
  authority: DnsRecord[];
  additional: DnsRecord[];
  /** How much the sender takes over UDP, when it says so. */
  edns?: { udpSize: number; version: number };
}

const HEADER_BYTES = 12;

/** @throws DnsFormatError for anything that is not a message. */
export function decodeMessage(bytes: Buffer): DnsMessage {
  if (bytes.length < HEADER_BYTES) throw new DnsFormatError('shorter than a header');
  const flags = bytes.readUInt16BE(2);
  const message: DnsMessage = {
    id: bytes.readUInt16BE(0),
    response: (flags & 0x8000) !== 0,
    opcode: (flags >> 11) & 0xf,
    authoritative: (flags & 0x0400) !== 0,
    truncated: (flags & 0x0200) !== 0,
    recursionDesired: (flags & 0x0100) !== 0,
    recursionAvailable: (flags & 0x0080) !== 0,
    rcode: flags & 0xf,
    questions: [],
    answers: [],
    authority: [],
    additional: [],
  };
  let at = HEADER_BYTES;
  for (let i = bytes.readUInt16BE(4); i > 0; i--) {
    const { name, end } = readName(bytes, at);
    if (end + 4 > bytes.length) throw new DnsFormatError('a question goes past the end');
    message.questions.push({ name, type: bytes.readUInt16BE(end), class: bytes.readUInt16BE(end + 2) });
    at = end + 4;
  }
  for (const [section, countAt] of [
    [message.answers, 6],
    [message.authority, 8],
    [message.additional, 10],
  ] as const) {
    for (let i = bytes.readUInt16BE(countAt); i > 0; i--) at = readRecord(bytes, at, section, message);
  }
  return message;
}

function readRecord(bytes: Buffer, start: number, section: DnsRecord[], message: DnsMessage): number {
  const { name, end: at } = readName(bytes, start);
  if (at + 10 > bytes.length) throw new DnsFormatError('a record goes past the end');
  const type = bytes.readUInt16BE(at);
  const ttl = bytes.readUInt32BE(at + 4);
  const from = at + 10;
  const end = from + bytes.readUInt16BE(at + 8);
  if (end > bytes.length) throw new DnsFormatError('a record goes past the end');
  if (type === TYPE.OPT) message.edns = { udpSize: bytes.readUInt16BE(at + 2), version: (ttl >> 16) & 0xff };
  else section.push({ name, ttl, ...readData(bytes, type, from, end) });
  return end;
}

type RecordData = DnsRecord extends infer R ? (R extends DnsRecord ? Omit<R, 'name' | 'ttl'> : never) : never;

function readData(bytes: Buffer, type: number, from: number, end: number): RecordData {
  const target = (at: number): string => {
    const name = readName(bytes, at);
    if (name.end !== end) throw new DnsFormatError('a name in a record has another length than the record');
    return name.name;
  };
  if (type === TYPE.A && end - from === 4) return { type: 'A', address: bytes.subarray(from, end).join('.') };
  if (type === TYPE.CNAME) return { type: 'CNAME', target: target(from) };
  if (type === TYPE.PTR) return { type: 'PTR', target: target(from) };
  if (type === TYPE.SRV && end - from > 6) {
    const [priority, weight, port] = [0, 2, 4].map((offset) => bytes.readUInt16BE(from + offset));
    return { type: 'SRV', priority, weight, port, target: target(from + 6) };
  }
  if (type === TYPE.TXT && end - from === (bytes[from] ?? -1) + 1) return { type: 'TXT', text: bytes.toString('latin1', from + 1, end) };
  if (type === TYPE.SOA) return readSoa(bytes, from, end);
  return { type, data: Buffer.from(bytes.subarray(from, end)) };
}

function readSoa(bytes: Buffer, from: number, end: number): RecordData {
  const primary = readName(bytes, from);
  const mailbox = readName(bytes, primary.end);
  if (mailbox.end + 20 !== end) throw new DnsFormatError('an SOA record of the wrong length');
  const [serial, refresh, retry, expire, minimum] = [0, 4, 8, 12, 16].map((offset) => bytes.readUInt32BE(mailbox.end + offset));
  return { type: 'SOA', primary: primary.name, mailbox: mailbox.name, serial, refresh, retry, expire, minimum };
}

/** With `limit`, a message that would be longer becomes one without records that says so: the asker comes again over TCP. */
export function encodeMessage(message: DnsMessage, limit = 0xffff): Buffer {
  const whole = encodeAll(message);
  if (whole.length <= limit) return whole;
  return encodeAll({ ...message, truncated: true, answers: [], authority: [], additional: [] });
}

function encodeAll(message: DnsMessage): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  const flags =
    (message.response ? 0x8000 : 0) |
    (message.opcode << 11) |
    (message.authoritative ? 0x0400 : 0) |
    (message.truncated ? 0x0200 : 0) |
    (message.recursionDesired ? 0x0100 : 0) |
    (message.recursionAvailable ? 0x0080 : 0) |
    message.rcode;
  const counts = [message.questions.length, message.answers.length, message.authority.length];
  [message.id, flags, ...counts, message.additional.length + (message.edns ? 1 : 0)].forEach((value, i) =>
    header.writeUInt16BE(value, 2 * i),
  );
  const parts: Buffer[] = [header];
  let length = header.length;
  const push = (part: Buffer): void => {
    parts.push(part);
    length += part.length;
  };
  const names = new NameWriter();
  for (const { name, type, class: kind } of message.questions) {
    push(names.write(name, length));
    push(uint16(type, kind));
  }
  for (const record of [...message.answers, ...message.authority, ...message.additional]) {
    push(names.write(record.name, length));
    const data = encodeData(record, names, length + 10);
    const fixed = Buffer.alloc(10);
    fixed.writeUInt16BE(typeof record.type === 'number' ? record.type : TYPE[record.type], 0);
    fixed.writeUInt16BE(CLASS_IN, 2);
    fixed.writeUInt32BE(record.ttl, 4);
    fixed.writeUInt16BE(data.length, 8);
    push(fixed);
    push(data);
  }
  if (message.edns) push(Buffer.concat([Buffer.from([0]), uint16(TYPE.OPT, message.edns.udpSize, 0, 0, 0)]));
  return Buffer.concat(parts);
}

function encodeData(record: DnsRecord, names: NameWriter, at: number): Buffer {
  switch (record.type) {
    case 'A':
      return Buffer.from(record.address.split('.').map(Number));
    case 'CNAME':
    case 'PTR':
      return names.write(record.target, at);
    case 'SRV':
      // Never compressed: RFC 2782.
      return Buffer.concat([uint16(record.priority, record.weight, record.port), new NameWriter().write(record.target, 0)]);
    case 'TXT':
      return Buffer.concat([Buffer.from([record.text.length]), Buffer.from(record.text, 'latin1')]);
    case 'SOA': {
      const primary = names.write(record.primary, at);
      const mailbox = names.write(record.mailbox, at + primary.length);
      const numbers = Buffer.alloc(20);
      [record.serial, record.refresh, record.retry, record.expire, record.minimum].forEach((n, i) => numbers.writeUInt32BE(n, 4 * i));
      return Buffer.concat([primary, mailbox, numbers]);
    }
    default:
      return record.data;
  }
}

function uint16(...values: number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  values.forEach((value, i) => bytes.writeUInt16BE(value, 2 * i));
  return bytes;
}
