import { treeConformance } from '../conformance/tenancy/suite.ts';
import { startHncOracle } from './hnc-oracle.ts';

treeConformance('the original HNC', startHncOracle);
