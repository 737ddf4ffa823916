import { describe, expect, it } from 'vitest';
import { aMachine } from '../testing/a-machine.ts';
import { sandboxBundle } from './sandbox-bundle.ts';

const image = { key: 'x', tree: '/images/x/tree', disk: '/images/x/disk', initramfs: '/images/x/initramfs' };
const boot = { id: 'a', user: 1, folder: '/machines/a', image };
const places = { network: '/run/netns/ttm-a', cgroup: 'ttm-a', settings: '/machines/a/settings.d', volume: '/machines/a/volume' };

interface Bundle {
  root: object;
  mounts: { destination: string; source: string; type: string; options?: string[] }[];
  linux: { namespaces: { type: string; path?: string }[]; cgroupsPath?: string; resources?: object };
}

describe('sandboxBundle', () => {
  const bundle = sandboxBundle({ ...boot, wanted: aMachine() }, places) as Bundle;

  it('shows a sandbox nothing of the host but the image, its own disk and its settings', () => {
    expect(bundle.root).toEqual({ path: '/images/x/tree', readonly: true });
    const shown = bundle.mounts.filter(({ type }) => type === 'bind');
    expect(shown.map(({ source }) => source).every((source) => source.startsWith('/machines/a/'))).toBe(true);
    expect(shown.filter(({ options }) => !options!.includes('ro')).map(({ destination }) => destination)).toEqual(['/var']);
  });

  it('puts it into its own network, and bounds what it may use', () => {
    expect(bundle.linux.namespaces).toContainEqual({ type: 'network', path: '/run/netns/ttm-a' });
    expect(bundle.linux).toMatchObject({
      cgroupsPath: '/ttm-a',
      resources: { memory: { limit: 2 * 1024 ** 3 }, cpu: { period: 100_000, quota: 200_000 }, pids: { limit: 8192 } },
    });
  });

  it('has no network and nothing of its own when it is only a try', () => {
    const probe = sandboxBundle(boot, { ...places, network: undefined }) as Bundle;
    expect(probe.mounts.some(({ type }) => type === 'bind')).toBe(false);
    expect(probe.linux.namespaces).toContainEqual({ type: 'network' });
  });
});
