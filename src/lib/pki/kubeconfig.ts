export interface KubeconfigParts {
  server: string;
  authorityPem: string;
  /** How the user is known: by certificate, or by token. */
  credentials: { certificatePem: string; keyPem: string } | { token: string };
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
    ...credentialLines(parts.credentials),
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

function credentialLines(credentials: KubeconfigParts['credentials']): string[] {
  if ('token' in credentials) return [`    token: ${JSON.stringify(credentials.token)}`];
  return [`    client-certificate-data: ${base64(credentials.certificatePem)}`, `    client-key-data: ${base64(credentials.keyPem)}`];
}
