import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { aRegistry, fileIn, HELLO, imagesWith, nothingIsLeft, plain, request, storeFolder } from './images-bench.ts';

describe('keeping', () => {
  test('list says names, digest and size', async () => {
    const registry = await aRegistry();
    const { digest } = registry.push('app', '1', { layers: HELLO });
    registry.push('app', 'latest', { layers: HELLO });
    const images = imagesWith(plain(registry.host));
    await images.ensure(request(`${registry.host}/app:1`));
    await images.ensure(request(`${registry.host}/app`));
    const [only, ...others] = await images.list();
    expect(others).toEqual([]);
    expect(only.digest).toBe(digest);
    expect(only.names[0]).toBe(`${registry.host}/app@${digest}`);
    expect(only.names.slice(1).sort()).toEqual([`${registry.host}/app:1`, `${registry.host}/app:latest`]);
    expect(only.sizeBytes).toBeGreaterThan(10);
  });

  test('collect takes the least recently used first, spares what is in use and layers that others have', async () => {
    const registry = await aRegistry();
    const images = imagesWith(plain(registry.host));
    const content = 'x'.repeat(10_000);
    const ids: string[] = [];
    for (const tag of ['old', 'used', 'new']) {
      registry.push('app', tag, { layers: [HELLO[0], [{ name: tag, content }]] });
      ids.push((await images.ensure(request(`${registry.host}/app:${tag}`))).id);
    }
    for (const [age, id] of ids.entries()) utimesSync(storeFolder('images', `${id.split(':').at(-1)}.json`), age + 1, age + 1);
    expect(await images.collect(new Set([ids[1]]), 1)).toBeGreaterThanOrEqual(10_000);
    expect((await images.list()).map(({ names }) => names[1]).sort()).toEqual([`${registry.host}/app:new`, `${registry.host}/app:used`]);
    expect(await images.collect(new Set([ids[1].split('@')[1]]), 1e9)).toBeLessThan(20_000);
    const used = await images.ensure(request(`${registry.host}/app:used`, { policy: 'Never' }));
    expect(fileIn(used, 'etc/hello')).toBe('hello');
    expect(readdirSync(storeFolder('layers')).filter((name) => !name.endsWith('.json'))).toHaveLength(2);
    expect(await images.collect(new Set(), 0)).toBe(0);
    // It was asked for a moment ago: a container may be about to start.
    expect(await images.collect(new Set(), 1e9)).toBe(0);
  });

  test('a layer that is gone is pulled again', async () => {
    const registry = await aRegistry();
    registry.push('app', 'latest', { layers: HELLO });
    const images = imagesWith(plain(registry.host));
    const { root } = await images.ensure(request(`${registry.host}/app`));
    rmSync((root as { layers: string[] }).layers[1], { recursive: true });
    expect(fileIn(await images.ensure(request(`${registry.host}/app`)), 'etc/world')).toBe('world');
  });

  test('remove takes a name, and the image with its last name', async () => {
    const registry = await aRegistry();
    registry.push('app', '1', { layers: HELLO });
    registry.push('app', '2', { layers: HELLO });
    const images = imagesWith(plain(registry.host));
    await images.ensure(request(`${registry.host}/app:1`));
    await images.ensure(request(`${registry.host}/app:2`));
    const [{ digest }] = await images.list();
    expect(await images.remove(`${registry.host}/app:1`)).toBe(0);
    await expect(images.remove(`${registry.host}/app:2`, new Set([digest]))).rejects.toThrow('a container uses it; delete its Pod first');
    expect(await images.remove(`${registry.host}/app:2`)).toBeGreaterThan(0);
    nothingIsLeft();
    await expect(images.remove('app')).rejects.toThrow('Cannot remove "app": there is no such image here; `tenantry image list` shows');
  });

  test('cleanUp removes what processes that died were making, and nothing of the living', async () => {
    const images = imagesWith();
    await images.cleanUp();
    const start = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ')[19];
    for (const name of ['999999999-5-dead', `${process.pid}-1-reused`, `${process.pid}-${start}-mine`, 'nonsense']) {
      writeFileSync(storeFolder('scratch', name), '');
    }
    await images.cleanUp();
    expect(readdirSync(storeFolder('scratch'))).toEqual([`${process.pid}-${start}-mine`]);
  });
});
