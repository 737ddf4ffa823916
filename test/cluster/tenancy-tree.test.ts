import { tenantConformance, treeConformance } from '../conformance/tenancy/suite.ts';
import { startTenancyTarget } from './tenancy-target.ts';

treeConformance('a real kube-apiserver', startTenancyTarget);
tenantConformance('a real kube-apiserver', startTenancyTarget);
