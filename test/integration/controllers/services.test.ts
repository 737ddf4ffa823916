import { afterAll } from 'vitest';
import { startInMemoryEngine, type InMemoryEngine } from './engine-in-memory.ts';
import { servicesSuite } from './services.suite.ts';

let engine: InMemoryEngine;
afterAll(() => engine.stop());

servicesSuite('the embedded engine', async () => (engine = await startInMemoryEngine()));
