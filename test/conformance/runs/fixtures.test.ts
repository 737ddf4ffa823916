import { startEmbeddedTarget } from '../../support/embedded-target.ts';
import { fixturesSuite } from './fixtures.suite.ts';

fixturesSuite('the embedded engine', startEmbeddedTarget);
