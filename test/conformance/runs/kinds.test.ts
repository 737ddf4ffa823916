import { startEmbeddedTarget } from '../../support/embedded-target.ts';
import { runKindsSuite } from './kinds.suite.ts';

runKindsSuite('the embedded engine', startEmbeddedTarget);
