import type { KubeObject } from '../../../kube/object.ts';
import type { Admission } from '../admission/chain.ts';
import type { ApiRequest } from '../chain/request.ts';
import type { ConnectOptions } from './connect-options.ts';

/**
 * Asks admission about a connection. Plugins see the options as the object of the request, and may change them.
 * @returns the options as they left admission. @throws StatusError
 */
export async function admitConnection<T extends ConnectOptions>(admission: Admission, request: ApiRequest, options: T): Promise<T> {
  const { info } = request;
  const asked = {
    operation: 'CONNECT' as const,
    resource: { group: info.group, version: info.version, resource: info.resource },
    kind: { group: '', version: 'v1', kind: options.kind },
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
    user: request.user,
    // They have no metadata, which admission copes with: nothing selects them by labels.
    object: options as unknown as KubeObject,
    options: {},
    dryRun: false,
    warn: (text: string) => void request.warnings.push(text),
    annotate: (key: string, value: string) => {
      request.auditAnnotations[key] = value;
    },
    signal: request.signal,
  };
  await admission.mutate(asked);
  await admission.validate(asked);
  return asked.object as unknown as T;
}
