import { describe } from 'vitest';
import { isolationMatrixSuite } from '../../conformance/tenancy/isolation-matrix.suite.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';
import { startEmbeddedTarget } from '../../support/embedded-target.ts';

describe('on the embedded engine', () => isolationMatrixSuite(() => startEmbeddedTarget(ownCustomResourceDefinitions)));
