import { treeConformance } from '../conformance/tenancy/suite.ts';
import { startHncOracle } from '../cluster/hnc-oracle.ts';

treeConformance('the original HNC', startHncOracle);
