import { describe } from 'vitest';
import { tenantNodesSuite } from '../../conformance/tenancy/tenant-nodes.suite.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';
import { startEmbeddedTarget } from '../../support/embedded-target.ts';

describe('on the embedded engine', () => tenantNodesSuite(() => startEmbeddedTarget(ownCustomResourceDefinitions)));
