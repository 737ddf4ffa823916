import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';
import { startEmbeddedTarget } from '../../support/embedded-target.ts';
import { tenantConformance, treeConformance } from './suite.ts';

const start = () => startEmbeddedTarget(ownCustomResourceDefinitions);

treeConformance('the embedded engine', start);
tenantConformance('the embedded engine', start);
