import { describe, expect, it } from 'vitest';
import { FakeClock } from '../clock-fake.ts';
import { silentLog } from '../log.ts';
import { MetricsRegistry } from '../metrics.ts';
import { BATCH_SPANS, CLOSE_MS, DELAY_MS, OtlpExporter, QUEUE_SPANS } from './otlp-exporter.ts';
import type { Span } from './span.ts';

const SPAN: Span = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), name: 'work', start: 1_700_000_000_000.25, end: 1_700_000_000_001 };

function anExporter(answers: (number | string)[] = []) {
  const clock = new FakeClock();
  const metrics = new MetricsRegistry();
  const bodies: { resourceSpans: { scopeSpans: { spans: { name: string }[] }[] }[] }[] = [];
  const poster = {
    post: (body: string) => {
      const answer = answers.shift() ?? 200;
      if (answer === 'away') return Promise.reject(new Error('ECONNREFUSED'));
      bodies.push(JSON.parse(body));
      return Promise.resolve(typeof answer === 'number' ? { status: answer, text: '' } : { status: 200, text: answer });
    },
    close: () => {},
  };
  const settings = { url: 'http://collector/v1/traces', headers: {}, resource: { 'service.name': 'test' } };
  const exporter = new OtlpExporter({ ...settings, clock, log: silentLog, metrics, poster });
  const names = () => bodies.map(({ resourceSpans }) => resourceSpans[0].scopeSpans[0].spans.map(({ name }) => name));
  const count = (line: string) => Number(new RegExp(`^${line} (\\d+)$`, 'm').exec(metrics.expose())?.[1] ?? 0);
  const dropped = (reason: string) => count(`tenantry_trace_spans_dropped_total\\{reason="${reason}"\\}`);
  return { exporter, clock, bodies, names, dropped, exported: () => count('tenantry_trace_spans_exported_total') };
}

describe('OtlpExporter', () => {
  it('sends spans together, as OTLP writes them', async () => {
    const { exporter, clock, bodies, exported } = anExporter();
    exporter.record({ ...SPAN, attributes: { a: 'x', n: 3, half: 0.5, yes: true, no: undefined }, error: 'bad' });
    exporter.record({ ...SPAN, parentSpanId: 'c'.repeat(16), events: [{ name: 'begun', time: 1_700_000_000_000 }] });
    expect(bodies).toEqual([]);
    await clock.advance(DELAY_MS);
    expect(exported()).toBe(2);
    expect(bodies).toEqual([
      {
        resourceSpans: [
          {
            resource: { attributes: [{ key: 'service.name', value: { stringValue: 'test' } }] },
            scopeSpans: [
              {
                scope: { name: 'tenantry' },
                spans: [
                  {
                    traceId: SPAN.traceId,
                    spanId: SPAN.spanId,
                    name: 'work',
                    kind: 1,
                    startTimeUnixNano: '1700000000000250000',
                    endTimeUnixNano: '1700000000001000000',
                    attributes: [
                      { key: 'a', value: { stringValue: 'x' } },
                      { key: 'n', value: { intValue: '3' } },
                      { key: 'half', value: { doubleValue: 0.5 } },
                      { key: 'yes', value: { boolValue: true } },
                    ],
                    events: [],
                    status: { code: 2, message: 'bad' },
                  },
                  expect.objectContaining({
                    parentSpanId: 'c'.repeat(16),
                    events: [{ name: 'begun', timeUnixNano: '1700000000000000000' }],
                    status: {},
                  }),
                ],
              },
            ],
          },
        ],
      },
    ]);
  });

  it('does not wait with a full batch', async () => {
    const { exporter, clock, names } = anExporter();
    for (let i = 0; i < BATCH_SPANS + 1; i++) exporter.record(SPAN);
    await clock.advance(0);
    expect(names().map((batch) => batch.length)).toEqual([BATCH_SPANS]);
    await clock.advance(DELAY_MS);
    expect(names().map((batch) => batch.length)).toEqual([BATCH_SPANS, 1]);
  });

  it('drops and counts what it cannot hold while the collector is away', async () => {
    const { exporter, clock, dropped, names } = anExporter(['away']);
    for (let i = 0; i < BATCH_SPANS + QUEUE_SPANS + 3; i++) exporter.record(SPAN);
    expect(dropped('queue_full')).toBe(3);
    await clock.advance(60_000);
    expect(names().flat()).toHaveLength(BATCH_SPANS + QUEUE_SPANS);
  });

  it('tries a batch again, some times', async () => {
    const { exporter, clock, names, dropped } = anExporter([503, 'away', 200]);
    exporter.record(SPAN);
    await clock.advance(60_000);
    expect(names()).toHaveLength(2);
    expect(dropped('unreachable')).toBe(0);
  });

  it('gives a batch up in the end, and goes on with the next', async () => {
    const { exporter, clock, names, dropped, exported } = anExporter(['away', 'away', 'away', 'away', 'away']);
    exporter.record(SPAN);
    await clock.advance(120_000);
    expect(dropped('unreachable')).toBe(1);
    exporter.record({ ...SPAN, name: 'next' });
    await clock.advance(DELAY_MS);
    expect(names()).toEqual([['next']]);
    expect(exported()).toBe(1);
  });

  it.each([
    ['a batch that is refused', 400, 2],
    ['a batch that is taken in part', '{"partialSuccess":{"rejectedSpans":"1"}}', 1],
  ])('counts what is lost of %s', async (_name, answer, lost) => {
    const { exporter, clock, dropped, exported } = anExporter([answer]);
    exporter.record(SPAN);
    exporter.record(SPAN);
    await clock.advance(DELAY_MS);
    expect([dropped('refused'), exported()]).toEqual([lost, 2 - lost]);
  });

  it('sends what it has when it is closed, and does not insist', async () => {
    const sends = anExporter();
    sends.exporter.record(SPAN);
    await sends.exporter.close();
    expect(sends.names()).toEqual([['work']]);

    const away = anExporter(['away', 'away']);
    away.exporter.record(SPAN);
    await away.clock.advance(DELAY_MS);
    await away.exporter.close();
    expect(away.dropped('unreachable') + away.exported()).toBe(1);
  });

  it('does not wait long for a collector that does not answer', async () => {
    const clock = new FakeClock();
    const metrics = new MetricsRegistry();
    let cut: ((error: Error) => void) | undefined;
    const post = () => new Promise<never>((_resolve, reject) => (cut = reject));
    const poster = { post, close: () => cut?.(new Error('closed')) };
    const settings = { url: 'http://collector/v1/traces', headers: {}, resource: {} };
    const exporter = new OtlpExporter({ ...settings, clock, log: silentLog, metrics, poster });
    for (let i = 0; i < BATCH_SPANS + 7; i++) exporter.record(SPAN);
    const closed = exporter.close();
    await clock.advance(CLOSE_MS);
    await closed;
    expect(metrics.expose()).toContain(`tenantry_trace_spans_dropped_total{reason="unreachable"} ${BATCH_SPANS + 7}\n`);
  });
});
