import { afterAll } from 'vitest';
import { startInMemoryEngine, type InMemoryEngine } from './engine-in-memory.ts';
import { daemonSetSuite } from './daemon-set.suite.ts';

let engine: InMemoryEngine | undefined;
afterAll(() => engine?.stop());

daemonSetSuite('the engine', async () => (engine = await startInMemoryEngine()));
