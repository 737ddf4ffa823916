import { describe } from 'vitest';
import { tenantSuite } from '../conformance/tenancy/tenant.suite.ts';
import { startTenancyTarget } from './tenancy-target.ts';

describe('on a real kube-apiserver', () => tenantSuite(() => startTenancyTarget(['clusterrole-aggregation'])));
