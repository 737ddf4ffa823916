import { describe } from 'vitest';
import { tenantSuite } from '../../conformance/tenancy/tenant.suite.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';
import { startEmbeddedTarget } from '../../support/embedded-target.ts';

describe('on the embedded engine', () => tenantSuite(() => startEmbeddedTarget(ownCustomResourceDefinitions)));
