import { afterAll } from 'vitest';
import { startInMemoryEngine, type InMemoryEngine } from './engine-in-memory.ts';
import { disruptionSuite } from './disruption.suite.ts';

let engine: InMemoryEngine | undefined;
afterAll(() => engine?.stop());

disruptionSuite('the engine', async () => (engine = await startInMemoryEngine()));
