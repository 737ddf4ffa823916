import type { Stats } from 'node:fs';
import { isWhiteout, joined, namesIn, parentOf, statOf } from './layer-files.ts';

/**
 * What a container would see of the layers below: the merged view of overlayfs, read only. No path handed to the kernel has a link in
 * its folders, so nothing outside the layers is ever looked at. Paths are byte strings without links in them.
 */
export class LowerLayers {
  /** The highest first. */
  readonly #roots: readonly string[];
  /** In which layers a folder is visible. */
  readonly #visible = new Map<string, readonly string[]>();

  /** @param roots folders, the lowest first */
  constructor(roots: readonly string[]) {
    this.#roots = [...roots].reverse();
  }

  find(path: string): { stats: Stats; place: string } | undefined {
    for (const root of this.#layersWith(parentOf(path))) {
      const place = `${root}/${path}`;
      const stats = statOf(place);
      if (stats === undefined) continue;
      return isWhiteout(stats) ? undefined : { stats, place };
    }
    return undefined;
  }

  isDirectory(path: string): boolean {
    return this.#layersWith(path).length > 0;
  }

  /** The names in a folder, of all layers together. */
  names(path: string): string[] {
    const names = new Set<string>();
    for (const root of this.#layersWith(path)) for (const name of namesIn(`${root}/${path}`)) names.add(name);
    return [...names].filter((name) => this.find(joined(path, name)) !== undefined);
  }

  #layersWith(folder: string): readonly string[] {
    if (folder === '') return this.#roots;
    const known = this.#visible.get(folder);
    if (known !== undefined) return known;
    const visible: string[] = [];
    for (const root of this.#layersWith(parentOf(folder))) {
      const stats = statOf(`${root}/${folder}`);
      if (stats === undefined) continue;
      // Anything but a folder hides what is further below.
      if (!stats.isDirectory()) break;
      visible.push(root);
    }
    this.#visible.set(folder, visible);
    return visible;
  }
}
