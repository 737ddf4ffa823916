import { afterAll } from 'vitest';
import { startInMemoryEngine, type InMemoryEngine } from './engine-in-memory.ts';
import { deploymentSuite } from './deployment.suite.ts';

let engine: InMemoryEngine | undefined;
afterAll(() => engine?.stop());

deploymentSuite('the engine', async () => (engine = await startInMemoryEngine()));
