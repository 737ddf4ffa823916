import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Container, HTTPGetAction } from '../../../kube/generated/core-v1.ts';
import { quote } from '../../../kube/go-text.ts';
import { dialError, joined, MAX_OUTPUT_BYTES, portOf, type ProbeOutcome } from './probe-outcome.ts';

const MAX_REDIRECTS = 10;
const VERSION = '1.35';

/** A GET that counts as healthy with 200 to 399. Certificates are not verified, and redirects are followed on the same host only. */
export async function probeHttp(action: HTTPGetAction, container: Container, podIp: string, signal: AbortSignal): Promise<ProbeOutcome> {
  let url = urlOf(action, container, podIp);
  const { hostname } = url;
  const headers = headersOf(action, 'probe');
  for (let redirects = 0; ; redirects++) {
    let answer: Answer;
    try {
      answer = await get(url, headers, signal);
    } catch (error) {
      return { result: 'failure', output: `Get ${quote(url.href)}: ${failureText(url, error as NodeJS.ErrnoException, signal)}` };
    }
    const { status, location, body } = answer;
    const target = status >= 300 && status < 400 && location !== undefined ? new URL(location, url) : undefined;
    if (target && target.hostname === hostname) {
      if (redirects === MAX_REDIRECTS - 1) {
        return { result: 'failure', output: `Get ${quote(target.href)}: stopped after ${MAX_REDIRECTS} redirects` };
      }
      url = target;
      continue;
    }
    if (status >= 200 && status < 300) return { result: 'success', output: body };
    if (status >= 300 && status < 400) return { result: 'warning', output: `Probe terminated redirects, Response body: ${body}` };
    return { result: 'failure', output: `HTTP probe failed with statuscode: ${status}` };
  }
}

/** The request of a lifecycle hook: whatever is answered, it was delivered. */
export async function hookRequest(action: HTTPGetAction, container: Container, podIp: string, signal: AbortSignal): Promise<void> {
  const url = urlOf(action, container, podIp);
  try {
    await get(url, headersOf(action, 'lifecycle'), signal);
  } catch (error) {
    throw new Error(`Get ${quote(url.href)}: ${failureText(url, error as NodeJS.ErrnoException, signal)}`, { cause: error });
  }
}

interface Answer {
  status: number;
  location: string | undefined;
  body: string;
}

function urlOf({ scheme = 'HTTP', host, port, path = '' }: HTTPGetAction, container: Container, podIp: string): URL {
  const base = `${scheme.toLowerCase()}://${joined(host || podIp, portOf(port, container))}`;
  return new URL(path === '' || path.startsWith('/') ? `${base}${path}` : `${base}/${path}`);
}

function headersOf({ httpHeaders = [] }: HTTPGetAction, purpose: string): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const { name, value } of httpHeaders) {
    const before = headers[name];
    headers[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  if (!names.has('user-agent')) headers['User-Agent'] = `kube-${purpose}/${VERSION}`;
  if (!names.has('accept')) headers.Accept = '*/*';
  else for (const name of Object.keys(headers)) if (name.toLowerCase() === 'accept' && headers[name] === '') delete headers[name];
  return headers;
}

async function get(url: URL, headers: Record<string, string | string[]>, signal: AbortSignal): Promise<Answer> {
  const secure = url.protocol === 'https:';
  const send = secure ? (await import('node:https')).request : httpRequest;
  const options = {
    headers: { Connection: 'close', ...headers },
    agent: false as const,
    signal,
    ...(secure ? { rejectUnauthorized: false } : {}),
  };
  return new Promise((resolve, reject) => {
    const request = send(url, options, (response) => {
      read(response).then((body) => {
        request.destroy();
        resolve({ status: response.statusCode!, location: response.headers.location, body });
      }, reject);
    });
    request.once('error', reject);
    request.end();
  });
}

function read(response: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const done = () => resolve(Buffer.concat(chunks).subarray(0, MAX_OUTPUT_BYTES).toString('utf8'));
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= MAX_OUTPUT_BYTES) done();
    });
    response.once('end', done);
    response.once('error', reject);
  });
}

function failureText(url: URL, error: NodeJS.ErrnoException, signal: AbortSignal): string {
  if (signal.aborted) return 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
  if (error.syscall === 'connect') return dialError(joined(url.hostname, portIn(url)), error);
  if (error.code === 'ECONNRESET') return 'EOF';
  return error.message;
}

/** A URL drops the port that its scheme has anyway. */
function portIn(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
}
