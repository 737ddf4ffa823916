import type { Json } from '../../../kube/object.ts';
import type { UserInfo } from '../auth/user.ts';
import type { RemoteApi } from './api-service.ts';
import { discoveryPath } from './availability.ts';
import { backendErrorText, type Backend } from './backend.ts';
import { identityHeaders } from './forwarded-headers.ts';

/** Sure to be allowed to ask. */
const AGGREGATOR: UserInfo = { name: 'system:kube-aggregator', groups: ['system:masters'] };
const MAX_DISCOVERY_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 5000;
/** After one failure: a service may have several servers behind it, and one of them suffices. */
const MORE_ATTEMPTS = 4;

/** The resources a server says it has in its version. @throws Error with the message of the condition FailedDiscoveryCheck. */
export async function probe(backend: Backend, api: RemoteApi): Promise<Json[]> {
  try {
    return await attempt(backend, api);
  } catch (first) {
    const more = Array.from({ length: MORE_ATTEMPTS }, () => attempt(backend, api));
    return Promise.any(more).catch(() => {
      throw first;
    });
  }
}

async function attempt(backend: Backend, api: RemoteApi): Promise<Json[]> {
  const path = discoveryPath(api);
  const headers = { accept: 'application/json', ...identityHeaders(AGGREGATOR) };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  // Whoever can answer in place of the server can only make it look available: checking certificates here would hide
  // a wrong CA behind "unavailable", while the proxy names it.
  const lenient: RemoteApi = { ...api, name: `${api.name} probe`, insecureSkipTLSVerify: true };
  const url = `https://${api.service.name}.${api.service.namespace}.svc:${api.service.port}${path}`;
  let answer;
  try {
    answer = await backend.fetch(lenient, { method: 'GET', path, headers, signal }, MAX_DISCOVERY_BYTES);
  } catch (error) {
    const why = signal.aborted ? 'context deadline exceeded' : backendErrorText(error, api);
    throw new Error(`failing or missing response from ${url}: Get "${url}": ${why}`, { cause: error });
  }
  if (answer.status < 200 || answer.status > 299) {
    throw new Error(`failing or missing response from ${url}: bad status from ${url}: ${answer.status}`);
  }
  return resourcesIn(answer.bytes);
}

/** A server that answers something else is there all the same, it only has nothing to show in discovery. */
function resourcesIn(bytes: Buffer): Json[] {
  try {
    const list: Json = JSON.parse(bytes.toString());
    return Array.isArray(list.resources) ? list.resources : [];
  } catch {
    return [];
  }
}
