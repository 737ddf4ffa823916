import { afterAll } from 'vitest';
import { startInMemoryEngine, type InMemoryEngine } from './engine-in-memory.ts';
import { replicaSetSuite } from './replica-set.suite.ts';

let engine: InMemoryEngine | undefined;
afterAll(() => engine?.stop());

replicaSetSuite('the engine', async () => (engine = await startInMemoryEngine()));
