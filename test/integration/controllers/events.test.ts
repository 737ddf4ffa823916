import { afterAll } from 'vitest';
import { startInMemoryEngine, type InMemoryEngine } from './engine-in-memory.ts';
import { eventsSuite } from './events.suite.ts';

let engine: InMemoryEngine;
afterAll(() => engine.stop());

eventsSuite('the embedded engine', async () => (engine = await startInMemoryEngine()));
