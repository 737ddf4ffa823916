import type { KubeObject } from '../../../kube/object.ts';

/** What an aggregated server must know to recognise us and our clients. It reads it from `kube-system/extension-apiserver-authentication`. */
export interface AuthenticationTrust {
  /** PEM of the CA of client certificates. */
  clientCa?: string;
  requestHeader?: {
    /** PEM of the CA that signed our proxy certificate. */
    ca: string;
    /** Common names it may have; empty: any. */
    allowedNames: string[];
  };
}

export const AUTHENTICATION_CONFIG_MAP = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };

export function authenticationConfigMap({ clientCa, requestHeader }: AuthenticationTrust): KubeObject {
  const data: Record<string, string> = {};
  if (clientCa) data['client-ca-file'] = clientCa;
  if (requestHeader) {
    data['requestheader-username-headers'] = JSON.stringify(['X-Remote-User']);
    data['requestheader-uid-headers'] = JSON.stringify(['X-Remote-Uid']);
    data['requestheader-group-headers'] = JSON.stringify(['X-Remote-Group']);
    data['requestheader-extra-headers-prefix'] = JSON.stringify(['X-Remote-Extra-']);
    data['requestheader-client-ca-file'] = requestHeader.ca;
    data['requestheader-allowed-names'] = JSON.stringify(requestHeader.allowedNames);
  }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...AUTHENTICATION_CONFIG_MAP }, data };
}
