import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

export interface Answer {
  status: number;
  text: string;
}

const ANSWER_MS = 10_000;
/** What a collector says of a batch; more is not read. */
const ANSWER_BYTES = 64 * 1024;

/** Sends bodies to one address over a connection that is kept. */
export function jsonPoster(url: string, headers: Record<string, string>): { post(body: string): Promise<Answer>; close(): void } {
  const isTls = url.startsWith('https:');
  const agent = isTls ? new HttpsAgent({ keepAlive: true, maxSockets: 1 }) : new HttpAgent({ keepAlive: true, maxSockets: 1 });
  const request = isTls ? httpsRequest : httpRequest;
  return {
    post: (body) =>
      new Promise((resolve, reject) => {
        const bytes = Buffer.from(body);
        const outgoing = request(url, {
          method: 'POST',
          agent,
          timeout: ANSWER_MS,
          headers: { ...headers, 'content-type': 'application/json', 'content-length': bytes.length },
        });
        outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')));
        outgoing.on('error', reject);
        outgoing.on('response', (incoming) => {
          let text = '';
          incoming.setEncoding('utf8');
          incoming.on('data', (chunk: string) => (text = (text + chunk).slice(0, ANSWER_BYTES)));
          incoming.on('error', reject);
          incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text }));
        });
        outgoing.end(bytes);
      }),
    close: () => agent.destroy(),
  };
}
