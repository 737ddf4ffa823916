import { describe } from 'vitest';
import { createMemoryStore } from '../../../src/engine/store/memory-store.ts';
import { storeSuite } from './store.suite.ts';

describe('memory store', () => {
  storeSuite(() => ({ open: async () => createMemoryStore(), dispose: async () => {} }));
});
