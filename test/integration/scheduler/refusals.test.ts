import { afterAll } from 'vitest';
import { startScheduler } from '../../../src/engine/scheduler/start-scheduler.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { startInMemoryEngine, type InMemoryEngine } from '../controllers/engine-in-memory.ts';
import { refusalsSuite } from './refusals.suite.ts';

let engine: InMemoryEngine;
let scheduler: { stop(): Promise<void> };
afterAll(async () => {
  await scheduler?.stop();
  await engine?.stop();
});

refusalsSuite('the embedded engine', async () => {
  engine = await startInMemoryEngine();
  scheduler = startScheduler({ client: engine.client, clock: realClock, log: silentLog });
  return engine;
});
