/** What the two ends of a tunnel say to each other: konnectivity's `Packet`, in protobuf. */
export type Packet =
  | { type: 'DIAL_REQ'; protocol: string; address: string; random: bigint }
  | { type: 'DIAL_RSP'; error: string; connectId: bigint; random: bigint }
  | { type: 'CLOSE_REQ'; connectId: bigint }
  | { type: 'CLOSE_RSP'; error: string; connectId: bigint }
  | { type: 'DATA'; connectId: bigint; error: string; data: Uint8Array }
  | { type: 'DIAL_CLS'; random: bigint }
  | { type: 'DRAIN' };

type FieldKind = 'text' | 'number' | 'bytes';

/** Each kind of packet in the order of its number, with the fields of its payload in the order of theirs. */
const KINDS: readonly { type: Packet['type']; fields: readonly (readonly [name: string, kind: FieldKind])[] }[] = [
  {
    type: 'DIAL_REQ',
    fields: [
      ['protocol', 'text'],
      ['address', 'text'],
      ['random', 'number'],
    ],
  },
  {
    type: 'DIAL_RSP',
    fields: [
      ['error', 'text'],
      ['connectId', 'number'],
      ['random', 'number'],
    ],
  },
  { type: 'CLOSE_REQ', fields: [['connectId', 'number']] },
  {
    type: 'CLOSE_RSP',
    fields: [
      ['error', 'text'],
      ['connectId', 'number'],
    ],
  },
  {
    type: 'DATA',
    fields: [
      ['connectId', 'number'],
      ['error', 'text'],
      ['data', 'bytes'],
    ],
  },
  { type: 'DIAL_CLS', fields: [['random', 'number']] },
  { type: 'DRAIN', fields: [] },
];
/** The field of `Packet` that holds the payload: not in the order of the types. */
const PAYLOAD_FIELDS: Record<Packet['type'], number> = {
  DIAL_REQ: 2,
  DIAL_RSP: 3,
  DATA: 4,
  CLOSE_REQ: 5,
  CLOSE_RSP: 6,
  DIAL_CLS: 7,
  DRAIN: 8,
};
const VARINT = 0;
const LENGTH = 2;
const EMPTY = { text: '', number: 0n, bytes: new Uint8Array() };

export function encodePacket(packet: Packet): Buffer {
  const number = KINDS.findIndex(({ type }) => type === packet.type);
  const values = packet as unknown as Record<string, string | bigint | Uint8Array>;
  const parts: Uint8Array[] = [];
  KINDS[number].fields.forEach(([name, kind], index) => {
    const value = values[name];
    if (kind === 'number') {
      if (value !== 0n) parts.push(tag(index + 1, VARINT), varint(value as bigint));
      return;
    }
    const bytes = kind === 'text' ? Buffer.from(value as string) : (value as Uint8Array);
    if (bytes.length > 0) parts.push(tag(index + 1, LENGTH), varint(BigInt(bytes.length)), bytes);
  });
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const head = number === 0 ? [] : [tag(1, VARINT), varint(BigInt(number))];
  return Buffer.concat([...head, tag(PAYLOAD_FIELDS[packet.type], LENGTH), varint(BigInt(length)), ...parts]);
}

/** Undefined for a kind that is not known here. @throws RangeError when it is torn */
export function decodePacket(bytes: Uint8Array): Packet | undefined {
  let number = 0n;
  let payload: Uint8Array = EMPTY.bytes;
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1 && typeof field.value === 'bigint') number = field.value;
    else if (field.number > 1 && typeof field.value !== 'bigint') payload = field.value;
  }
  const kind = KINDS[Number(number)];
  if (kind === undefined) return undefined;
  const packet: Record<string, unknown> = { type: kind.type };
  for (const [name, of] of kind.fields) packet[name] = EMPTY[of];
  for (const field of fieldsOf(payload)) {
    const [name, of] = kind.fields[field.number - 1] ?? [];
    if (name === undefined || (of === 'number') !== (typeof field.value === 'bigint')) continue;
    packet[name] = of === 'text' ? Buffer.from(field.value as Uint8Array).toString('utf8') : field.value;
  }
  return packet as unknown as Packet;
}

function* fieldsOf(bytes: Uint8Array): Generator<{ number: number; value: bigint | Uint8Array }> {
  let at = 0;
  const take = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      if (at >= bytes.length) throw new RangeError('a packet of the tunnel is torn');
      const byte = bytes[at++];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw new RangeError('a number in a packet of the tunnel is too long');
  };
  while (at < bytes.length) {
    const key = Number(take());
    const wire = key & 7;
    if (wire === VARINT) yield { number: key >>> 3, value: take() };
    else if (wire === LENGTH) {
      const length = Number(take());
      if (length < 0 || at + length > bytes.length) throw new RangeError('a packet of the tunnel is torn');
      yield { number: key >>> 3, value: bytes.subarray(at, (at += length)) };
    } else throw new RangeError(`a packet of the tunnel has a field of wire type ${wire}`);
  }
}

function tag(field: number, wire: number): Uint8Array {
  return Uint8Array.of((field << 3) | wire);
}

function varint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}
