import { connect } from 'node:http2';

/** A message by the numbers of its fields; strings and messages are bytes on the wire. */
export type Fields = [number: number, value: string | bigint | Buffer][];

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = BigInt.asUintN(64, value); ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
}

/** By hand, so that nothing of the generated code stands between the test and the wire. */
export function encode(fields: Fields): Buffer {
  return Buffer.concat(
    fields.flatMap(([number, value]) => {
      if (typeof value === 'bigint') return [varint(BigInt(number << 3)), varint(value)];
      const bytes = Buffer.from(value as string);
      return [varint(BigInt((number << 3) | 2)), varint(BigInt(bytes.length)), bytes];
    }),
  );
}

export function decode(bytes: Buffer): Map<number, (bigint | Buffer)[]> {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let at = 0;
  const next = (): bigint => {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(next());
    const length = (tag & 7) === 2 ? Number(next()) : undefined;
    const value = length === undefined ? next() : bytes.subarray(at, (at += length));
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value]);
  }
  return fields;
}

export interface RawAnswer {
  /** 0 is OK. */
  code: number;
  messages: Buffer[];
}

/** One gRPC call over plain HTTP/2, as any client of any language makes it. */
export function rawCall(port: number, path: string, message: Fields, headers: Record<string, string> = {}): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const session = connect(`http://127.0.0.1:${port}`);
    session.on('error', reject);
    const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', ...headers });
    const chunks: Buffer[] = [];
    let code: string | undefined;
    const read = (answer: Record<string, unknown>) => (code = (answer['grpc-status'] as string | undefined) ?? code);
    stream.on('response', read);
    stream.on('trailers', read);
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', reject);
    stream.on('close', () => {
      session.close();
      resolve({ code: Number(code), messages: split(Buffer.concat(chunks)) });
    });
    const body = encode(message);
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(body.length, 1);
    stream.end(Buffer.concat([prefix, body]));
  });
}

function split(bytes: Buffer): Buffer[] {
  const messages: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 5 + bytes.readUInt32BE(at + 1))
    messages.push(bytes.subarray(at + 5, at + 5 + bytes.readUInt32BE(at + 1)));
  return messages;
}
