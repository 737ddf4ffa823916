import { describe, expect, it } from 'vitest';
import type { Run, RunStatus } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import type { Span } from '../../../lib/tracing/span.ts';
import { RunTimelines } from './run-timelines.ts';

const CREATED = Date.parse('2026-01-01T00:00:00Z');
const UID = '11111111-2222-4333-8444-555555555555';

function aRun(status?: Partial<RunStatus>): Run {
  return {
    apiVersion: 'kruntimes.io/v1alpha1',
    kind: 'Run',
    metadata: { name: 'r', namespace: 'shop', uid: UID, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { runtime: 'bash', mode: { task: {} } },
    ...(status === undefined ? {} : { status: { phase: 'Pending', ...status } }),
  };
}

function someTimelines() {
  const spans: Span[] = [];
  const timelines = new RunTimelines({ record: (span) => spans.push(span) }, (namespace) => (namespace === 'shop' ? 'acme' : undefined));
  const seen = () => spans.map(({ name, start, end }) => [name, start - CREATED, end - CREATED]);
  return { timelines, spans, seen };
}

describe('RunTimelines', () => {
  it('tells the life of a Run that it saw come', () => {
    const { timelines, spans, seen } = someTimelines();
    timelines.changed(aRun(), CREATED + 700);
    timelines.changed(aRun({ phase: 'Scheduled', assignedPod: 'p' }), CREATED + 702);
    timelines.changed(aRun({ phase: 'Running' }), CREATED + 705);
    timelines.changed(aRun({ phase: 'Running', message: 'of no interest' }), CREATED + 706);
    timelines.changed(aRun({ phase: 'Succeeded', assignedPod: 'p', exitCode: 0, start: 'Warm' }), CREATED + 720);
    expect(seen()).toEqual([
      ['queued', 700, 702],
      ['scheduled', 702, 705],
      ['run', 700, 720],
    ]);
    const [queued, , root] = spans;
    expect(queued).toMatchObject({ traceId: root.traceId, parentSpanId: root.spanId });
    expect(root.parentSpanId).toBeUndefined();
    expect(root.error).toBeUndefined();
    expect(root.events?.map(({ name }) => name)).toEqual(['created', 'scheduled', 'claimed', 'terminal']);
    expect(root.attributes).toMatchObject({
      'k8s.namespace.name': 'shop',
      'k8s.pod.name': 'p',
      'tenantry.tenant': 'acme',
      'tenantry.run.phase': 'Succeeded',
      'tenantry.run.start': 'Warm',
      'process.exit.code': 0,
    });
    expect([...timelines.unfinished()]).toEqual([]);
  });

  it('says why a Run failed', () => {
    const { timelines, spans } = someTimelines();
    timelines.changed(aRun(), CREATED);
    const condition = { type: 'Completed', status: 'False', reason: 'Cancelled', message: '', lastTransitionTime: '' } as const;
    timelines.changed(aRun({ phase: 'Cancelled', message: 'cancelled by user', conditions: [condition] }), CREATED + 5);
    expect(spans.at(-1)).toMatchObject({ name: 'run', error: 'Cancelled: cancelled by user' });
  });

  it('begins a Run that was there before with what it says of itself', () => {
    const { timelines, seen } = someTimelines();
    timelines.changed(aRun(), CREATED + 500, true);
    timelines.changed(aRun({ phase: 'Scheduled' }), CREATED + 900);
    expect(seen()).toEqual([['queued', 0, 900]]);
  });

  it('tells of each time that a Run waits', () => {
    const { timelines, seen } = someTimelines();
    timelines.changed(aRun({ phase: 'Running' }), CREATED + 10);
    timelines.changed(aRun({ phase: 'Pending', attempt: 2 }), CREATED + 20);
    timelines.changed(aRun({ phase: 'Scheduled', attempt: 2 }), CREATED + 50);
    expect(seen()).toEqual([['queued', 20, 50]]);
  });

  it('ends with a Run that is deleted, and does not begin with one that has ended', () => {
    const { timelines, spans, seen } = someTimelines();
    timelines.changed(aRun({ phase: 'Succeeded' }), CREATED);
    timelines.removed(aRun({ phase: 'Succeeded' }), CREATED + 1);
    expect(seen()).toEqual([]);
    timelines.changed(aRun(), CREATED + 2);
    timelines.removed(aRun(), CREATED + 4);
    expect(seen()).toEqual([
      ['queued', 2, 4],
      ['run', 2, 4],
    ]);
    expect(spans.at(-1)?.error).toBe('the Run was deleted');
  });
});
