import { homedir } from 'node:os';
import { openCluster } from '../sdk/cluster.ts';
import type { ClusterOptions, Runs } from '../sdk/runs-api.ts';
import { runsOf } from '../sdk/runs.ts';
import { dataDirectory } from './data-directory.ts';
import { productVersion } from './product-version.ts';

export type * from '../sdk/runs-api.ts';

/**
 * Runs of the cluster that the options name. What is left out is found as `krt` finds it: $KUBECONFIG, `~/.kube/config`, the
 * instance of this machine, or the cluster that the process is in.
 */
export function connect(options: ClusterOptions = {}): Runs {
  const userAgent = `tenantry-sdk/${productVersion()}`;
  return runsOf(() => openCluster(options, { env: process.env, home: homedir(), userAgent, dataDirectory }));
}

/** Runs of the cluster and namespace that `krt` would use here. */
export const runs: Runs = connect();
