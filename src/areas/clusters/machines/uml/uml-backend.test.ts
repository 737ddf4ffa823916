import { describe, expect, it } from 'vitest';
import { aMachine } from '../testing/a-machine.ts';
import { umlArguments } from './uml-backend.ts';

const folder = '/data/workers/machines/a';
const image = {
  key: 'x',
  tree: '/data/workers/images/x/tree',
  disk: '/data/workers/images/x/disk',
  initramfs: '/data/workers/images/x/initramfs',
};

describe('umlArguments', () => {
  it('gives a guest the shared image to read, and its own disk, settings and tap', () => {
    const args = umlArguments({ folder, image, wanted: aMachine() });
    expect(args).toEqual(expect.arrayContaining(['mem=2048M', 'ubd0r=../../images/x/disk', 'ubd1=disk', 'ubd2r=settings']));
    expect(args).toContain('vec0:transport=tap,ifname=tap0,depth=64,mac=02:ca:0a:00:01:14');
    expect(args.join(' ')).not.toMatch(/abcdef|PEM/);
  });

  it('only tries the image when there is no machine', () => {
    const args = umlArguments({ folder, image });
    expect(args.filter((word) => /^(ubd|vec)/.test(word))).toEqual(['ubd0r=../../images/x/disk']);
    expect(args).toContain('tenantry.probe');
  });
});
