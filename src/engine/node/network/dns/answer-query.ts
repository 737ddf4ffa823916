import {
  CLASS_IN,
  decodeMessage,
  encodeMessage,
  RCODE,
  TYPE,
  type DnsMessage,
  type DnsQuestion,
  type DnsRecord,
} from '../../../../lib/dns/message.ts';
import { answerFromCluster, zoneAuthority, type ClusterRecords, type ZoneAnswer } from './model/cluster-zone.ts';

export interface DnsServices {
  domain: string;
  records: ClusterRecords;
  /** Asks the machine's resolvers. */
  upstream(query: Buffer, transport: 'udp' | 'tcp'): Promise<Buffer | undefined>;
  now(): number;
}

/** What we take over UDP, and at most send: larger packets would be cut into pieces on the way. */
const UDP_SIZE = 1232;
const SMALLEST_UDP_SIZE = 512;

/** The answer to a packet; undefined for what is not a question. */
export async function answerQuery(packet: Buffer, transport: 'udp' | 'tcp', services: DnsServices): Promise<Buffer | undefined> {
  let query: DnsMessage;
  try {
    query = decodeMessage(packet);
  } catch {
    return packet.length >= 12 && (packet[2] & 0x80) === 0 ? malformed(packet) : undefined;
  }
  if (query.response) return undefined;
  const refuse = (rcode: number): Buffer => encodeMessage(reply(query, { rcode, answers: [], additional: [] }));
  if (query.opcode !== 0) return refuse(RCODE.NOTIMP);
  if (query.questions.length !== 1) return refuse(RCODE.FORMERR);
  const [question] = query.questions;
  if (question.class !== CLASS_IN) return refuse(RCODE.REFUSED);
  const answer = answerFromCluster(question, services.domain, services.records);
  if (!answer) return (await services.upstream(packet, transport)) ?? refuse(RCODE.SERVFAIL);
  if (answer.follow !== undefined) await follow(question, answer, answer.follow, transport, services);
  const message = reply(query, answer);
  if (answer.answers.length === 0 && answer.rcode !== RCODE.SERVFAIL) {
    message.authority.push(zoneAuthority(services.domain, Math.floor(services.now() / 1000)));
  }
  const limit = transport === 'tcp' ? 0xffff : Math.min(UDP_SIZE, Math.max(SMALLEST_UDP_SIZE, query.edns?.udpSize ?? 0));
  return encodeMessage(message, limit);
}

/** Resolvers in programs do not ask again for the name that an alias leads to: its addresses come along. */
async function follow(
  question: DnsQuestion,
  answer: ZoneAnswer,
  target: string,
  transport: 'udp' | 'tcp',
  { upstream }: DnsServices,
): Promise<void> {
  const query = encodeMessage({
    ...reply({ id: 0, questions: [{ ...question, name: target }] } as unknown as DnsMessage, { rcode: 0, answers: [], additional: [] }),
    response: false,
    authoritative: false,
    recursionAvailable: false,
    recursionDesired: true,
  });
  const received = await upstream(query, transport);
  if (!received) {
    answer.rcode = RCODE.SERVFAIL;
    answer.answers = [];
    return;
  }
  try {
    const message = decodeMessage(received);
    const usable = ({ type }: DnsRecord): boolean => type === 'A' || type === 'CNAME' || type === TYPE.AAAA;
    answer.answers = [...answer.answers, ...message.answers.filter(usable)];
  } catch {
    answer.rcode = RCODE.SERVFAIL;
    answer.answers = [];
  }
}

function reply(query: DnsMessage, { rcode, answers, additional }: ZoneAnswer): DnsMessage {
  return {
    id: query.id,
    response: true,
    opcode: query.opcode ?? 0,
    authoritative: true,
    truncated: false,
    recursionDesired: query.recursionDesired ?? true,
    recursionAvailable: true,
    rcode,
    questions: query.questions,
    answers: [...answers],
    authority: [],
    additional: [...additional],
    ...(query.edns ? { edns: { udpSize: UDP_SIZE, version: 0 } } : {}),
  };
}

function malformed(packet: Buffer): Buffer {
  const header = Buffer.alloc(12);
  packet.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8000 | (packet.readUInt16BE(2) & 0x7900) | RCODE.FORMERR, 2);
  return header;
}
