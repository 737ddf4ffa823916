import { startInMemoryEngine } from '../controllers/engine-in-memory.ts';
import { propagationSuite } from './propagation.suite.ts';

propagationSuite('the embedded engine', startInMemoryEngine);
