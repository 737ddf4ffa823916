import { parseResources, totalRequests, type RequestingPod, type Resources } from '../../../kube/pod-requests.ts';

/** What a container without a request is taken to need when nodes are compared, so that they do not all land on one. */
const ASSUMED_CPU = 100;
const ASSUMED_MEMORY = 200 * 1024 * 1024;

/** What a Pod requests, with an assumed amount for containers that request nothing; only cpu and memory are of interest. */
export function assumedRequests(spec: RequestingPod): Resources {
  return totalRequests(spec, (container) => {
    const requests = container.resources?.requests;
    const parsed = parseResources(requests);
    if (requests?.cpu === undefined) parsed.cpu = ASSUMED_CPU;
    if (requests?.memory === undefined) parsed.memory = ASSUMED_MEMORY;
    return parsed;
  });
}
