import { afterAll } from 'vitest';
import { startInMemoryEngine, type InMemoryEngine } from './engine-in-memory.ts';
import { jobSuite } from './job.suite.ts';

let engine: InMemoryEngine | undefined;
afterAll(() => engine?.stop());

jobSuite('the engine', async () => (engine = await startInMemoryEngine()));
