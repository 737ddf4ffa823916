export interface KubeconfigParts {
  server: string;
  authorityPem: string;
  certificatePem: string;
  keyPem: string;
  /** Names of cluster and context. */
  cluster?: string;
  user?: string;
  namespace?: string;
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

/** A kubeconfig with everything in it, as YAML that kubectl and people read. */
export function kubeconfigText(parts: KubeconfigParts): string {
  const cluster = parts.cluster ?? 'tenantry';
  const user = parts.user ?? 'tenantry-admin';
  const namespace = parts.namespace === undefined ? [] : [`    namespace: ${JSON.stringify(parts.namespace)}`];
  return [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    `- name: ${JSON.stringify(cluster)}`,
    '  cluster:',
    `    server: ${JSON.stringify(parts.server)}`,
    `    certificate-authority-data: ${base64(parts.authorityPem)}`,
    'users:',
    `- name: ${JSON.stringify(user)}`,
    '  user:',
    `    client-certificate-data: ${base64(parts.certificatePem)}`,
    `    client-key-data: ${base64(parts.keyPem)}`,
    'contexts:',
    `- name: ${JSON.stringify(cluster)}`,
    '  context:',
    `    cluster: ${JSON.stringify(cluster)}`,
    `    user: ${JSON.stringify(user)}`,
    ...namespace,
    `current-context: ${JSON.stringify(cluster)}`,
    '',
  ].join('\n');
}
