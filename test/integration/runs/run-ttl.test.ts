import { runTtlSuite } from './run-ttl.suite.ts';

runTtlSuite('the embedded engine');
