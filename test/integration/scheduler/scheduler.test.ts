import { afterAll, expect, test } from 'vitest';
import { startScheduler } from '../../../src/engine/scheduler/start-scheduler.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { createLog } from '../../../src/lib/log.ts';
import { startInMemoryEngine, type InMemoryEngine } from '../controllers/engine-in-memory.ts';
import { schedulerSuite } from './scheduler.suite.ts';

let engine: InMemoryEngine;
let scheduler: { stop(): Promise<void> };
const warnings: string[] = [];

afterAll(async () => {
  await scheduler?.stop();
  await engine?.stop();
});

schedulerSuite('the embedded engine', async () => {
  engine = await startInMemoryEngine();
  const log = createLog({ level: 'warn', write: (line) => warnings.push(line) });
  scheduler = startScheduler({ client: engine.client, clock: realClock, log, random: () => 0.5 });
  return engine;
});

test('nothing had to be warned about', () => {
  expect([...warnings, ...engine.warnings]).toEqual([]);
});
