import { runCommand } from '../../../lib/run-command.ts';

/** Everything of the kernel that routers need, tried in a namespace that is gone when the shell ends. */
const LINUX_PROBE = `ip link add s type bridge
ip link add x type veth peer name y
nft -f - <<'END'
table inet probe {
  chain forward { type filter hook forward priority filter; policy drop; ct state invalid drop; }
  chain postrouting { type nat hook postrouting priority srcnat; oifname "x" snat ip to 100.64.0.1; }
}
table bridge probe {
  set sources { type ether_addr . ipv4_addr; flags interval; }
  chain prerouting { type filter hook prerouting priority -300; ether type ip ether saddr . ip saddr @sources accept; }
}
END
`;

const OVN_PROGRAMS = ['ovsdb-server', 'ovsdb-tool', 'ovs-vswitchd', 'ovs-vsctl', 'ovn-northd', 'ovn-controller', 'ovn-nbctl', 'ethtool'];

/** Why this machine can have no networks of tenants with a provider; undefined when it can. Asking costs a few processes. */
export async function networksUnable(provider: 'linux' | 'ovn', run: typeof runCommand = runCommand): Promise<string | undefined> {
  const probe =
    provider === 'linux'
      ? LINUX_PROBE
      : `${LINUX_PROBE}for name in ${OVN_PROGRAMS.join(' ')}; do command -v $name >/dev/null || { echo "$name is missing" >&2; exit 1; }; done\n`;
  try {
    await run('unshare', ['--net', 'sh', '-e'], { input: probe });
    return undefined;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return `Cannot make networks of tenants with "${provider}": ${said}; it takes root, ip, nft and nsenter${provider === 'ovn' ? ', OVN and ethtool' : ''}`;
  }
}
