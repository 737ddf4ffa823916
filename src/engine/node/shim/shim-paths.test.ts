import { describe, expect, it } from 'vitest';
import { socketPath } from './shim-paths.ts';

describe('socketPath', () => {
  it('lies in the folder when the kernel takes the path', () => {
    expect(socketPath('/var/lib/tenantry/node')).toBe('/var/lib/tenantry/node/shim.sock');
  });

  it('lies in a folder of its own when the path is too long, always the same one', () => {
    const long = `/${'deep/'.repeat(30)}node`;
    expect(socketPath(long)).toMatch(/\/tenantry-[0-9a-f]{16}\/shim\.sock$/);
    expect(socketPath(long)).toBe(socketPath(`${long}/`));
    expect(socketPath(long)).not.toBe(socketPath(`${long}2`));
    expect(Buffer.byteLength(socketPath(long))).toBeLessThan(108);
  });
});
