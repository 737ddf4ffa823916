import { afterAll } from 'vitest';
import { startInMemoryEngine, type InMemoryEngine } from './engine-in-memory.ts';
import { cronJobSuite } from './cron-job.suite.ts';

let engine: InMemoryEngine | undefined;
afterAll(() => engine?.stop());

cronJobSuite('the engine', async () => (engine = await startInMemoryEngine()));
