import { Agent, request } from 'node:https';
import type { Json } from '../../src/kube/object.ts';

export interface Answer {
  status: number;
  body: Json;
  text: string;
  /** The text of the Warning header, if there is one. */
  warning?: string;
}

/** A running kube-apiserver, asked as its administrator. */
export interface Server {
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** The parsed body of a GET that must succeed. */
  get(path: string, accept?: string): Promise<Json>;
  text(path: string): Promise<string>;
  close(): void;
}

export function connect(url: string, ca: string, token: string): Server {
  const agent = new Agent({ ca, keepAlive: true, maxSockets: 8 });
  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const sent = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers };
      const outgoing = request(`${url}${path}`, { method, agent, headers: sent }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          // The index of OpenAPI v3 is JSON that calls itself text/plain.
          const isJson = text.startsWith('{') || text.startsWith('[');
          const warning = /^299 - "(.*)"$/.exec(response.headers['warning'] ?? '')?.[1];
          resolve({ status: response.statusCode ?? 0, body: isJson ? JSON.parse(text) : undefined, text, warning });
        });
      });
      outgoing.on('error', reject);
      outgoing.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
    });
  const mustGet = async (path: string, accept = 'application/json'): Promise<Answer> => {
    const answer = await call('GET', path, undefined, { accept });
    if (answer.status !== 200) throw new Error(`Cannot read "${path}": status ${answer.status}; it said: ${answer.text.slice(0, 500)}`);
    return answer;
  };
  return {
    call,
    get: async (path, accept) => (await mustGet(path, accept)).body,
    text: async (path) => (await mustGet(path)).text,
    close: () => agent.destroy(),
  };
}
