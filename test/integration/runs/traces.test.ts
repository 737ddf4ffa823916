import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_ARTIFACT_LIMITS } from '../../../src/areas/runs/artifacts/collect-artifacts.ts';
import { openStore } from '../../../src/areas/runs/artifacts/open-store.ts';
import { startRunTraces } from '../../../src/areas/runs/tracing/start-run-traces.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { MetricsRegistry } from '../../../src/lib/metrics.ts';
import { exporterSettings } from '../../../src/lib/tracing/exporter-settings.ts';
import { OtlpExporter } from '../../../src/lib/tracing/otlp-exporter.ts';
import { SharedInformers } from '../../../src/runtime/informer/shared-informers.ts';
import { Namespace } from '../../../src/client/kinds.ts';
import { OtlpReceiver, type ReceivedSpan } from '../../support/otlp-receiver.ts';
import { RunsWorld } from './runs-world.ts';

const CLAIM = { driver: 'filesystem', filesystem: { volumeClaimName: 'claim' } } as const;
const STEPS = ['queued', 'scheduled', 'claimed', 'prepare source', 'execute', 'outputs', 'artifacts', 'terminal'];

describe('the trace of a Run', () => {
  const root = mkdtempSync(join(tmpdir(), 'tenantry-traces-'));
  const closers: (() => Promise<void>)[] = [];
  let world: RunsWorld;
  let receiver: OtlpReceiver;

  beforeAll(async () => {
    receiver = await OtlpReceiver.start();
    world = await RunsWorld.start();
    const settings = (service: string) => exporterSettings({}, service, receiver.endpoint)!;
    const common = { clock: realClock, log: silentLog, metrics: new MetricsRegistry() };
    const runtimed = new OtlpExporter({ ...settings('runtimed'), ...common });
    const informers = new SharedInformers({ client: world.client, log: silentLog });
    await world.client.resource(Namespace).patch('default', {
      type: 'merge',
      patch: { metadata: { labels: { 'tenantry.dev/tenant': 'acme' } } },
    });
    const traces = startRunTraces({ ...common, client: world.client, informers, exporter: settings('tenantry') });
    await informers.whenSynced();
    closers.push(
      () => traces.stop(),
      () => informers.stop(),
      () => runtimed.close(),
    );
    const store = openStore(CLAIM, { root, environment: {}, clock: realClock });
    await world.pod('pod-1', 4, { store, description: CLAIM, limits: DEFAULT_ARTIFACT_LIMITS }, runtimed);
  }, 30_000);

  afterAll(async () => {
    for (const close of closers) await close();
    await world?.stop();
    await receiver?.stop();
    rmSync(root, { recursive: true, force: true });
  }, 30_000);

  /** All of a trace: the span that is the Run comes last. */
  async function traceWith(traceId: string, names: string[]): Promise<ReceivedSpan[]> {
    await expect.poll(() => receiver.trace(traceId).map(({ name }) => name), { timeout: 15_000 }).toEqual(expect.arrayContaining(names));
    return receiver.trace(traceId);
  }

  it('goes from its creation to its end, told by those who work on it', async () => {
    const run = await world.create('whole', 'echo "seen=$TRACEPARENT" > $KRUNTIME_OUTPUTS; echo x > $KRUNTIME_ARTIFACTS_DIR/file');
    const ended = await world.ended('whole');
    expect(ended.status).toMatchObject({ phase: 'Succeeded', start: 'Warm' });
    const traceId = run.metadata.uid!.replaceAll('-', '');
    const spans = await traceWith(traceId, ['run', ...STEPS]);
    const byName = new Map(spans.map((span) => [span.name, span]));
    const whole = byName.get('run')!;
    expect(spans).toHaveLength(STEPS.length + 1);
    expect(whole).toMatchObject({ service: 'tenantry', error: undefined, events: ['created', 'scheduled', 'claimed', 'terminal'] });
    expect(whole.parentSpanId).toBeUndefined();
    expect(whole.attributes).toMatchObject({
      'tenantry.run.name': 'whole',
      'tenantry.run.phase': 'Succeeded',
      'tenantry.run.start': 'Warm',
      'tenantry.tenant': 'acme',
      'k8s.pod.name': 'pod-1',
      'process.exit.code': '0',
    });
    for (const step of STEPS) {
      expect(byName.get(step), step).toMatchObject({ parentSpanId: whole.spanId, error: undefined });
      expect(byName.get(step)!.service).toBe(step === 'queued' || step === 'scheduled' ? 'tenantry' : 'runtimed');
    }
    // Those of one process: what another one sees, it sees when its watch tells it.
    const begins = STEPS.filter((step) => byName.get(step)!.service === 'runtimed').map((step) => byName.get(step)!.start);
    expect(begins).toEqual(begins.toSorted((a, b) => a - b));
    // What the program does itself belongs below its execution.
    expect(ended.status?.outputs).toEqual({ seen: `00-${traceId}-${byName.get('execute')!.spanId}-01` });
    expect(receiver.problems).toEqual([]);
  });

  it('is a part of the trace of whoever created it', async () => {
    const [trace, span] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
    await world.create('part', 'exit 3', {}, { traceparent: `00-${trace}-${span}-01` });
    await world.ended('part');
    const spans = await traceWith(trace, ['run', 'terminal']);
    const whole = spans.find(({ name }) => name === 'run')!;
    expect(whole).toMatchObject({ parentSpanId: span, error: 'RuntimeError: exit status 3' });
    expect(spans.find(({ name }) => name === 'execute')).toMatchObject({ parentSpanId: whole.spanId, error: 'exit status 3' });
  });

  it('has each attempt of a Run that is tried again', async () => {
    const run = await world.create('again', 'exit 1', { retryPolicy: { maxAttempts: 2, backoff: '10ms' } });
    await world.ended('again');
    const spans = await traceWith(run.metadata.uid!.replaceAll('-', ''), ['run', 'retry', 'terminal']);
    const executions = spans.filter(({ name }) => name === 'execute');
    expect(executions.map(({ attributes }) => attributes['tenantry.run.attempt'])).toEqual(['1', '2']);
    expect(new Set(executions.map(({ spanId }) => spanId)).size).toBe(2);
  });

  it('is not told where its creator does not want it', async () => {
    const trace = '5bf92f3577b34da6a3ce929d0e0e4736';
    await world.create('silent', 'true', {}, { traceparent: `00-${trace}-00f067aa0ba902b7-00` });
    await world.ended('silent');
    const other = await world.create('after', 'true');
    await traceWith(other.metadata.uid!.replaceAll('-', ''), ['run', 'terminal']);
    expect(receiver.trace(trace)).toEqual([]);
  });
});
