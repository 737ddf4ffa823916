import { startEmbeddedTarget } from '../../support/embedded-target.ts';
import { krtSuite } from './krt.suite.ts';

krtSuite('the embedded engine', startEmbeddedTarget);
