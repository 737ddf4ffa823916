import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export interface ReceivedSpan {
  service: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  /** Milliseconds since the epoch. */
  start: number;
  end: number;
  attributes: Record<string, unknown>;
  events: string[];
  error?: string;
}

interface Attribute {
  key: string;
  value: Record<string, unknown>;
}

/** An OpenTelemetry collector: takes OTLP over HTTP, encoded as JSON, and is strict about it. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  readonly problems: string[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<OtlpReceiver> {
    const server = createServer((request, response) => {
      if (request.method !== 'POST' || request.url !== '/v1/traces' || request.headers['content-type'] !== 'application/json') {
        receiver.problems.push(`${request.method} ${request.url} ${request.headers['content-type']}`);
        response.writeHead(404).end();
        return;
      }
      json(request).then(
        (body) => {
          receiver.#take(body as never);
          response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
        },
        (error: unknown) => {
          receiver.problems.push(String(error));
          response.writeHead(400).end();
        },
      );
    });
    const receiver = new OtlpReceiver(server);
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Of one trace, in the order of their beginnings. */
  trace(traceId: string): ReceivedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId).toSorted((a, b) => a.start - b.start);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => void this.#server.close(resolve));
  }

  #take({ resourceSpans }: { resourceSpans: Record<string, never>[] }): void {
    for (const { resource, scopeSpans } of resourceSpans as unknown as {
      resource: { attributes: Attribute[] };
      scopeSpans: { spans: Record<string, never>[] }[];
    }[]) {
      const service = String(valuesOf(resource.attributes)['service.name']);
      for (const { spans } of scopeSpans) for (const span of spans) this.#takeSpan(service, span);
    }
  }

  #takeSpan(service: string, span: Record<string, unknown>): void {
    const wanted: [unknown, RegExp][] = [
      [span['traceId'], /^[0-9a-f]{32}$/],
      [span['spanId'], /^[0-9a-f]{16}$/],
      [span['parentSpanId'] ?? '0'.repeat(16), /^[0-9a-f]{16}$/],
      [span['startTimeUnixNano'], /^\d{19}$/],
      [span['endTimeUnixNano'], /^\d{19}$/],
    ];
    for (const [text, pattern] of wanted) {
      if (typeof text !== 'string' || !pattern.test(text)) this.problems.push(`${String(span['name'])}: ${JSON.stringify(text)}`);
    }
    const status = span['status'] as { code?: number; message?: string };
    this.spans.push({
      service,
      traceId: String(span['traceId']),
      spanId: String(span['spanId']),
      parentSpanId: span['parentSpanId'] as string | undefined,
      name: String(span['name']),
      start: Number(span['startTimeUnixNano']) / 1e6,
      end: Number(span['endTimeUnixNano']) / 1e6,
      attributes: valuesOf(span['attributes'] as Attribute[]),
      events: (span['events'] as { name: string }[]).map(({ name }) => name),
      error: status.code === 2 ? status.message : undefined,
    });
  }
}

function valuesOf(attributes: Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
