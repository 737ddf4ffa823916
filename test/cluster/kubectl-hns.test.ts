import { ownCustomResourceDefinitions } from '../support/custom-resource-definitions.ts';
import { startEmbeddedTarget } from '../support/embedded-target.ts';
import { kubectlHnsSuite } from './kubectl-hns.suite.ts';
import { startTenancyTarget } from './tenancy-target.ts';

kubectlHnsSuite('the embedded engine', () => startEmbeddedTarget(ownCustomResourceDefinitions));
kubectlHnsSuite('a real kube-apiserver', () => startTenancyTarget(['clusterrole-aggregation']));
