import { startEmbeddedTarget } from '../../support/embedded-target.ts';
import { apiConformance } from './suite.ts';

apiConformance('the embedded engine', startEmbeddedTarget);
