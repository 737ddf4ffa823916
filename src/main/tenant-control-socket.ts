import { rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { CONTROL_SOCKET, type ControlEvent } from '../areas/clusters/control-plane/process/control-socket.ts';

/** What is told to whoever follows this process. */
export class News {
  readonly #last = new Map<ControlEvent['type'], ControlEvent>();
  readonly #listeners = new Set<(event: ControlEvent) => void>();

  /** The last word about each thing. */
  get last(): Iterable<ControlEvent> {
    return this.#last.values();
  }

  onChange(listener: (event: ControlEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(event: ControlEvent): void {
    this.#last.set(event.type, event);
    for (const listener of this.#listeners) listener(event);
  }
}

export interface ControlOptions {
  hello: ControlEvent;
  news: News;
  backup(): AsyncIterable<Uint8Array>;
  replaceCertificates(): Promise<void>;
}

/** Where the platform talks to this process: a socket in a folder that only it and root can enter. */
export async function serveControl(options: ControlOptions): Promise<Server> {
  // One that was killed leaves its socket behind.
  rmSync(CONTROL_SOCKET, { force: true });
  const server = createServer((request, response) => {
    answer(request, response, options).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(CONTROL_SOCKET, resolve);
  });
  return server;
}

async function answer(request: IncomingMessage, response: ServerResponse, options: ControlOptions): Promise<void> {
  switch (`${request.method} ${request.url}`) {
    case 'GET /watch':
      return watch(response, options);
    case 'GET /backup':
      response.writeHead(200);
      return pipeline(Readable.from(options.backup()), response);
    case 'POST /certificates':
      await options.replaceCertificates();
      response.writeHead(200).end();
      return;
    default:
      response.writeHead(404).end();
  }
}

/** Stays open for as long as this process lives: its end is the news. */
function watch(response: ServerResponse, { hello, news }: ControlOptions): void {
  const send = (event: ControlEvent) => response.write(`${JSON.stringify(event)}\n`);
  response.writeHead(200);
  send(hello);
  for (const event of news.last) send(event);
  response.once('close', news.onChange(send));
}
