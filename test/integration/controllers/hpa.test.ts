import { afterAll } from 'vitest';
import { CLIENT_CERTIFICATE, CLIENT_KEY } from '../../../src/engine/apiserver/admission/testing/certificates.ts';
import { startInMemoryEngine, type InMemoryEngine } from './engine-in-memory.ts';
import { HASTY_CLOCK } from './hpa-clock.ts';
import { horizontalPodAutoscalerSuite } from './hpa.suite.ts';

let engine: InMemoryEngine;
afterAll(() => engine.stop());

horizontalPodAutoscalerSuite('the embedded engine', async () => {
  const frontProxy = { certificate: CLIENT_CERTIFICATE, key: CLIENT_KEY };
  engine = await startInMemoryEngine({ clock: HASTY_CLOCK, frontProxy });
  return engine;
});
