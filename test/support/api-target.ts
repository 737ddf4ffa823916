import { Agent, request as httpsRequest } from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { Json } from '../../src/kube/object.ts';

/** An API server under test, spoken to over plain HTTPS, so that nothing of ours stands between the suite and the wire. */
export interface ApiTarget {
  name: string;
  url: string;
  kubeconfig: string;
  request(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  watch(path: string, options?: CallOptions): Promise<WatchStream>;
  close(): Promise<void>;
}

export interface CallOptions {
  contentType?: string;
  headers?: Record<string, string>;
}

export interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: Json;
}

export interface WatchStream {
  status: number;
  /** The next event, or undefined when the stream has ended or `ms` have passed. */
  next(ms?: number): Promise<Json>;
  stop(): void;
}

export interface ConnectionOptions {
  name: string;
  url: string;
  kubeconfig: string;
  ca: string;
  certificate?: { cert: string; key: string };
  token?: string;
  close(): Promise<void>;
}

export function connectTarget(options: ConnectionOptions): ApiTarget {
  const agent = new Agent({ keepAlive: true, ca: options.ca, ...options.certificate });
  const authorization: Record<string, string> = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
  const send = (method: string, path: string, body: unknown, call: CallOptions): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
      const headers = {
        ...authorization,
        accept: 'application/json',
        ...(text === undefined
          ? {}
          : { 'content-type': call.contentType ?? 'application/json', 'content-length': Buffer.byteLength(text) }),
        ...call.headers,
      };
      const outgoing = httpsRequest(new URL(path, options.url), { method, agent, headers }, resolve);
      outgoing.on('error', reject);
      outgoing.end(text);
    });
  return {
    name: options.name,
    url: options.url,
    kubeconfig: options.kubeconfig,
    async request(method, path, body, call = {}) {
      const answer = await send(method, path, body, call);
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString('utf8');
      const json = (answer.headers['content-type'] ?? '').includes('json');
      return { status: answer.statusCode ?? 0, headers: answer.headers, body: json && text !== '' ? JSON.parse(text) : text };
    },
    async watch(path, call = {}) {
      return readWatch(await send('GET', path, undefined, call));
    },
    async close() {
      agent.destroy();
      await options.close();
    },
  };
}

function readWatch(answer: IncomingMessage): WatchStream {
  const events: Json[] = [];
  let rest = '';
  let ended = false;
  let wake: (() => void) | undefined;
  answer.setEncoding('utf8');
  answer.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') events.push(JSON.parse(line));
    wake?.();
  });
  const end = () => {
    ended = true;
    wake?.();
  };
  answer.on('end', end);
  answer.on('error', end);
  answer.on('close', end);
  return {
    status: answer.statusCode ?? 0,
    async next(ms = 5000) {
      // What wakes it may be the first half of a long line.
      const deadline = Date.now() + ms;
      const isWaiting = () => events.length === 0 && !ended && Date.now() < deadline;
      while (isWaiting()) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, deadline - Date.now());
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wake = undefined;
      }
      return events.shift();
    },
    stop: () => answer.destroy(),
  };
}
