import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';
import { startEmbeddedTarget } from '../../support/embedded-target.ts';
import { treeConformance } from './suite.ts';

treeConformance('the embedded engine', () => startEmbeddedTarget(ownCustomResourceDefinitions));
