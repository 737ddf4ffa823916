import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseCgroupLayout, type CgroupLayout } from '../cgroups/cgroup-layout.ts';
import type { Cgroups, CgroupStats } from '../cgroups/cgroups.ts';
import { podProcessors } from '../cgroups/pod-processors.ts';
import type { PodProcessors, ResourceLimits } from '../driver.ts';

/** The cgroups of this driver's Pods and containers. A process joins by itself, before it has children: see the outer shell. */
export class ProcessCgroups {
  readonly processors: PodProcessors;
  readonly #cgroups: Cgroups;
  readonly #root: string;
  #layout: Promise<CgroupLayout | undefined> | undefined;

  constructor(cgroups: Cgroups, dir: string) {
    this.#cgroups = cgroups;
    this.#root = rootCgroup(dir);
    this.processors = podProcessors(cgroups, (uid) => this.#pod(uid));
  }

  async makePod(podUid: string, limits: ResourceLimits): Promise<void> {
    await this.#cgroups.create(this.#pod(podUid), limits);
  }

  async removePod(podUid: string): Promise<void> {
    await this.#cgroups.kill(this.#pod(podUid));
    await this.#cgroups.remove(this.#pod(podUid));
    // With the last Pod goes what all of them shared.
    await this.#cgroups.removeIfEmpty(this.#root);
  }

  /** Gives the files that a process writes its number to. */
  async makeContainer(id: string, limits: ResourceLimits): Promise<string[]> {
    await this.#cgroups.create(this.#container(id), limits);
    return this.filesOf(id);
  }

  async filesOf(id: string): Promise<string[]> {
    return joinFiles(await this.#machineLayout(), this.#container(id));
  }

  kill(id: string): Promise<void> {
    return this.#cgroups.kill(this.#container(id));
  }

  stats(id: string): Promise<CgroupStats | undefined> {
    return this.#cgroups.stats(this.#container(id));
  }

  async outOfMemory(id: string): Promise<boolean> {
    return (await this.#cgroups.oomKills(this.#container(id))) > 0;
  }

  async removeContainer(id: string): Promise<void> {
    await this.kill(id);
    await this.#cgroups.remove(this.#container(id));
  }

  /** The Pods that have one. */
  async pods(): Promise<string[]> {
    return (await this.#cgroups.children(this.#root)).map((name) => name.slice('pod'.length));
  }

  #machineLayout(): Promise<CgroupLayout | undefined> {
    this.#layout ??= readFile('/proc/self/mountinfo', 'utf8').then(parseCgroupLayout);
    return this.#layout;
  }

  #pod(uid: string): string {
    return `${this.#root}/pod${uid}`;
  }

  #container(id: string): string {
    return `${this.#pod(id.split('.')[0])}/${id}`;
  }
}

/** Two data directories on one machine never meet in the kernel. */
export function rootCgroup(dir: string): string {
  return `/tenantry-process-${createHash('sha256').update(dir).digest('hex').slice(0, 12)}`;
}

/** Of v1 only the trees that limit and count, as the cgroup itself was made. */
export function joinFiles(layout: CgroupLayout | undefined, path: string): string[] {
  if (layout === undefined) return [];
  const trees = layout.version === 'v2' ? layout.trees : ['cpu', 'cpuacct', 'memory', 'pids'].map((name) => layout.controllers.get(name));
  return [...new Set(trees.filter((tree) => tree !== undefined))].map((tree) => join(tree, path, 'cgroup.procs'));
}
