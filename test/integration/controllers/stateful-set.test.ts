import { afterAll } from 'vitest';
import { startInMemoryEngine, type InMemoryEngine } from './engine-in-memory.ts';
import { statefulSetSuite } from './stateful-set.suite.ts';

let engine: InMemoryEngine | undefined;
afterAll(() => engine?.stop());

statefulSetSuite('the engine', async () => (engine = await startInMemoryEngine()));
