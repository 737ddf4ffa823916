import { afterAll, expect, test } from 'vitest';
import { controllersSuite } from './controllers.suite.ts';
import { startInMemoryEngine, type InMemoryEngine } from './engine-in-memory.ts';

let engine: InMemoryEngine | undefined;
afterAll(() => engine?.stop());

controllersSuite('the engine', async () => {
  engine = await startInMemoryEngine();
  return engine;
});

test('nothing had to be warned about', () => {
  expect(engine?.warnings).toEqual([]);
});
