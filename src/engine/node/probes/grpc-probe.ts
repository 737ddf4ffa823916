import type { ClientHttp2Session } from 'node:http2';
import { quote } from '../../../kube/go-text.ts';
import { durationText } from '../pods/model/back-off.ts';
import { dialError, joined, type ProbeOutcome } from './probe-outcome.ts';

/** Asks a server by the health protocol of gRPC (`grpc.health.v1.Health/Check`), in plain text. */
export async function probeGrpc(
  host: string,
  port: number,
  service: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const { connect, constants } = await import('node:http2');
  const address = joined(host, port);
  const session = connect(`http://${address}`);
  try {
    const refused = await connected(session, signal);
    if (refused === 'timeout') {
      const text = `timeout: failed to connect service ${quote(address)} within ${durationText(timeoutMs)}: context deadline exceeded`;
      return { result: 'failure', output: text };
    }
    if (refused)
      return { result: 'failure', output: `error: failed to connect service at ${quote(address)}: ${dialError(address, refused)}` };
    return await check(session, address, service, timeoutMs, signal, constants.NGHTTP2_CANCEL);
  } finally {
    session.destroy();
  }
}

function connected(session: ClientHttp2Session, signal: AbortSignal): Promise<NodeJS.ErrnoException | 'timeout' | undefined> {
  return new Promise((resolve) => {
    session.once('connect', () => resolve(undefined));
    session.on('error', resolve);
    signal.addEventListener('abort', () => resolve('timeout'), { once: true });
  });
}

async function check(
  session: ClientHttp2Session,
  address: string,
  service: string,
  timeoutMs: number,
  signal: AbortSignal,
  cancelCode: number,
): Promise<ProbeOutcome> {
  const { status, message, body } = await call(session, address, service, signal, cancelCode);
  if (status === 'timeout') return { result: 'failure', output: `timeout: health rpc did not complete within ${durationText(timeoutMs)}` };
  if (status === '12') {
    const text = `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${message}`;
    return { result: 'failure', output: text };
  }
  if (status !== '0') {
    const text = `error: health rpc probe failed: rpc error: code = ${CODES[Number(status)] ?? 'Unknown'} desc = ${message}`;
    return { result: 'failure', output: text };
  }
  const health = healthOf(body);
  if (health === 1) return { result: 'success', output: 'service healthy' };
  return { result: 'failure', output: `service unhealthy (responded with ${quote(HEALTH[health] ?? String(health))})` };
}

interface CallResult {
  /** grpc-status, or `timeout`. */
  status: string;
  message: string;
  body: Buffer;
}

function call(
  session: ClientHttp2Session,
  authority: string,
  service: string,
  signal: AbortSignal,
  cancelCode: number,
): Promise<CallResult> {
  return new Promise((resolve) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      ':authority': authority,
      'content-type': 'application/grpc',
      te: 'trailers',
      'user-agent': 'kube-probe/1.35',
    });
    const chunks: Buffer[] = [];
    let status: string | undefined;
    let message = '';
    const take = (headers: Record<string, unknown>) => {
      const text = (name: string) => (typeof headers[name] === 'string' ? headers[name] : undefined);
      status = text('grpc-status') ?? status;
      message = text('grpc-message') ?? message;
      const code = Number(headers[':status'] ?? 200);
      if (code !== 200) {
        status ??= code === 404 ? '12' : '2';
        message ||= `unexpected HTTP status code received from server: ${code}`;
      }
    };
    const done = (fallback: string) => resolve({ status: status ?? fallback, message: decoded(message), body: Buffer.concat(chunks) });
    stream.on('response', take);
    stream.on('trailers', take);
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', (error: Error) => {
      message ||= error.message;
      done('14');
    });
    stream.on('close', () => done('13'));
    signal.addEventListener(
      'abort',
      () => {
        status = 'timeout';
        done('timeout');
        stream.close(cancelCode);
      },
      { once: true },
    );
    stream.end(frame(service));
  });
}

/** A message with one field, the name of the service, in the length-prefixed frame of gRPC. */
function frame(service: string): Buffer {
  const name = Buffer.from(service, 'utf8');
  const message = name.length === 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.from([0x0a]), varint(name.length), name]);
  const header = Buffer.alloc(5);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, message]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
}

/** Field 1 of the answer; a message without it says UNKNOWN. */
function healthOf(body: Buffer): number {
  return body.length >= 7 && body[5] === 0x08 ? body[6] : 0;
}

function decoded(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}

const HEALTH = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];
const CODES = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
];
