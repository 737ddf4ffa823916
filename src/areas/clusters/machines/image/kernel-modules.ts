/** What a guest needs to find its disks and its network. */
export const BOOT_MODULES = ['virtio_pci', 'virtio_blk', 'virtio_net'] as const;

/** What Pods need: layers of images, links, and the rules of Services and policies. */
export const POD_MODULES = [
  'overlay',
  'veth',
  'bridge',
  'nf_tables',
  'nf_conntrack',
  'nft_chain_nat',
  'nft_nat',
  'nft_masq',
  'nft_redir',
  'nft_ct',
  'nft_reject_inet',
  'nft_reject_ipv4',
  'nft_fib_inet',
  'nft_fib_ipv4',
  'nft_limit',
  'nft_objref',
  'nft_quota',
  'nft_connlimit',
  'nft_numgen',
  'nft_hash',
  'nft_log',
  'nft_objref',
  'nf_log_syslog',
  'nft_meta_bridge',
] as const;

/**
 * The files of modules in the order in which they can be loaded, what they depend on first. `dependencies` is the text of modules.dep, in which
 * every line names all that its module needs, the last to load first. What the kernel has built in, or does not have, is not among them.
 */
export function loadOrder(dependencies: string, wanted: readonly string[]): string[] {
  const needs = new Map<string, string[]>();
  for (const line of dependencies.split('\n')) {
    const [path, rest = ''] = line.split(':', 2);
    if (path !== '') needs.set(moduleName(path), [...rest.split(' ').filter(Boolean).toReversed(), path]);
  }
  const order = new Map<string, string>();
  for (const name of wanted) {
    for (const path of needs.get(name) ?? []) if (!order.has(moduleName(path))) order.set(moduleName(path), path);
  }
  return [...order.values()];
}

/** The kernel takes - and _ for the same. */
export function moduleName(path: string): string {
  return path
    .slice(path.lastIndexOf('/') + 1)
    .replace(/\.ko(\.\w+)?$/, '')
    .replaceAll('-', '_');
}
