import { describe, expect, it } from 'vitest';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { kernelHostname, podHostname, podHostsFile } from './hosts-file.ts';

function aPod(spec: Json = {}, name = 'web-0'): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'shop', uid: 'u1' }, spec };
}

const LOCAL = `127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
fe00::0\tip6-localnet
fe00::0\tip6-mcastprefix
fe00::1\tip6-allnodes
fe00::2\tip6-allrouters
`;

describe('podHostsFile', () => {
  const at = { podIp: '10.1.0.7', clusterDomain: 'cluster.local' };
  const cases: [string, Json, string][] = [
    ['the name of the Pod', {}, `# Kubernetes-managed hosts file.\n${LOCAL}10.1.0.7\tweb-0\n`],
    ['a hostname of its own', { hostname: 'db' }, `# Kubernetes-managed hosts file.\n${LOCAL}10.1.0.7\tdb\n`],
    [
      'hostname and subdomain',
      { hostname: 'db', subdomain: 'sql' },
      `# Kubernetes-managed hosts file.\n${LOCAL}10.1.0.7\tdb.sql.shop.svc.cluster.local\tdb\n`,
    ],
    [
      'aliases',
      {
        hostAliases: [
          { ip: '1.2.3.4', hostnames: ['a', 'b'] },
          { ip: '::5', hostnames: ['c'] },
        ],
      },
      `# Kubernetes-managed hosts file.\n${LOCAL}10.1.0.7\tweb-0\n\n# Entries added by HostAliases.\n1.2.3.4\ta\tb\n::5\tc\n`,
    ],
    [
      'the network of the machine',
      { hostNetwork: true, hostAliases: [{ ip: '1.2.3.4', hostnames: ['a'] }] },
      '# Kubernetes-managed hosts file (host network).\n127.0.0.1 me\n\n# Entries added by HostAliases.\n1.2.3.4\ta\n',
    ],
  ];

  it.each(cases)('%s', (_, spec, content) => {
    expect(podHostsFile(aPod(spec), { ...at, nodeHosts: '127.0.0.1 me\n' })).toBe(content);
  });
});

describe('podHostname', () => {
  it.each([
    ['a long name is cut', 'a'.repeat(70), {}, 'a'.repeat(63)],
    ['a cut name does not end in a dash or dot', `${'a'.repeat(61)}-.bbbb`, {}, 'a'.repeat(61)],
    ['an override wins, and has no domain', 'web', { hostnameOverride: 'x.y', subdomain: 's' }, 'x.y'],
  ])('%s', (_, name, spec, hostname) => {
    expect(podHostname(aPod(spec, name), 'cluster.local')).toEqual({ hostname, domain: '' });
  });

  it('refuses what is no label', () => {
    expect(() => podHostname(aPod({ hostname: 'A_b' }), 'cluster.local')).toThrow('pod Hostname "A_b" is not a valid DNS label: ');
  });
});

describe('kernelHostname', () => {
  const full = (spec: Json): string => {
    const pod = aPod(spec);
    return kernelHostname(pod, podHostname(pod, 'cluster.local'));
  };

  it('is the short name unless the Pod asks for the full one', () => {
    expect(full({ subdomain: 'sql' })).toBe('web-0');
    expect(full({ subdomain: 'sql', setHostnameAsFQDN: true })).toBe('web-0.sql.shop.svc.cluster.local');
    expect(full({ setHostnameAsFQDN: true })).toBe('web-0');
  });

  it('refuses a full name that the kernel would not take', () => {
    expect(() => full({ subdomain: 's'.repeat(60), setHostnameAsFQDN: true })).toThrow(
      'is too long (64 characters is the max, 89 characters requested)',
    );
  });
});
