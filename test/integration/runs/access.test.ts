import { runtimeAccessSuite } from '../../conformance/runs/access.suite.ts';
import { startEmbeddedTarget } from '../../support/embedded-target.ts';

runtimeAccessSuite('the embedded engine', startEmbeddedTarget);
