import { describe, expect, it } from 'vitest';
import { loadOrder } from './kernel-modules.ts';

const DEPENDENCIES = [
  'kernel/drivers/block/virtio_blk.ko: kernel/drivers/virtio/virtio_ring.ko kernel/drivers/virtio/virtio.ko',
  'kernel/drivers/virtio/virtio_ring.ko: kernel/drivers/virtio/virtio.ko',
  'kernel/drivers/virtio/virtio.ko:',
  'kernel/drivers/char/virtio-rng.ko.xz: kernel/drivers/virtio/virtio_ring.ko kernel/drivers/virtio/virtio.ko',
  '',
].join('\n');

describe('loadOrder', () => {
  const cases: [what: string, wanted: string[], order: string[]][] = [
    ['what a module needs comes before it', ['virtio_blk'], ['virtio.ko', 'virtio_ring.ko', 'virtio_blk.ko']],
    ['what two need comes once', ['virtio_blk', 'virtio_rng'], ['virtio.ko', 'virtio_ring.ko', 'virtio_blk.ko', 'virtio-rng.ko.xz']],
    ['what the kernel has built in is left out', ['ext4', 'virtio'], ['virtio.ko']],
    ['nothing is wanted', [], []],
  ];
  it.each(cases)('%s', (_what, wanted, order) => {
    expect(loadOrder(DEPENDENCIES, wanted).map((path) => path.slice(path.lastIndexOf('/') + 1))).toEqual(order);
  });
});
