import { hierarchicalResourceQuotaDefinition } from './hnc.x-k8s.io/v1alpha2/hierarchical-resource-quota.ts';
import { hierarchyConfigurationDefinition } from './hnc.x-k8s.io/v1alpha2/hierarchy-configuration.ts';
import { hncConfigurationDefinition } from './hnc.x-k8s.io/v1alpha2/hnc-configuration.ts';
import { subnamespaceAnchorDefinition } from './hnc.x-k8s.io/v1alpha2/subnamespace-anchor.ts';
import type { KindDefinition } from './kind-definition.ts';
import { runDefinition } from './kruntimes.io/v1alpha1/run.ts';
import { runtimeDefinition } from './kruntimes.io/v1alpha1/runtime.ts';
import { crossTenantAttemptDefinition } from './plugins.tenantry.dev/v1alpha1/cross-tenant-attempt.ts';
import { pluginInstallationDefinition } from './plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { pluginPolicyDefinition } from './plugins.tenantry.dev/v1alpha1/plugin-policy.ts';
import { pluginVersionDefinition } from './plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { publisherDefinition } from './plugins.tenantry.dev/v1alpha1/publisher.ts';
import { clusterPolicyDefinition } from './tenantry.dev/v1alpha1/cluster-policy.ts';
import { tenantClusterDefinition } from './tenantry.dev/v1alpha1/tenant-cluster.ts';
import { tenantDefinition } from './tenantry.dev/v1alpha1/tenant.ts';
import { vpcDefinition } from './tenantry.dev/v1alpha1/vpc.ts';

/** Every Kind that we define. The build makes a CRD of each. */
export const definitions: readonly KindDefinition[] = [
  runDefinition,
  runtimeDefinition,
  tenantDefinition,
  hierarchyConfigurationDefinition,
  subnamespaceAnchorDefinition,
  hncConfigurationDefinition,
  hierarchicalResourceQuotaDefinition,
  publisherDefinition,
  pluginVersionDefinition,
  pluginInstallationDefinition,
  pluginPolicyDefinition,
  crossTenantAttemptDefinition,
  tenantClusterDefinition,
  clusterPolicyDefinition,
  vpcDefinition,
];
