/** What of the machine a built-in image sees, read-only. Folders that may hold secrets are left out, and so is everything not named. */
export const SYSTEM_FOLDERS: readonly string[] = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

export const SYSTEM_SETTINGS: readonly string[] = [
  'passwd',
  'group',
  'nsswitch.conf',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'alternatives',
  'localtime',
  'services',
  'protocols',
  'mime.types',
  'ssl/certs',
  'ssl/openssl.cnf',
  'pki/tls/certs',
  'pki/ca-trust/extracted',
  'ca-certificates.conf',
].map((name) => `/etc/${name}`);

/** Of the machine's network, which containers may share. */
export const NETWORK_SETTINGS: readonly string[] = ['/etc/resolv.conf', '/etc/hosts'];

/** Whether a path is of the machine itself, which volumes may cover, and not of the product. */
export function isOfTheMachine(path: string): boolean {
  return [...SYSTEM_FOLDERS, ...SYSTEM_SETTINGS, ...NETWORK_SETTINGS].some((each) => path === each || path.startsWith(`${each}/`));
}
