import { access, chmod, mkdir, readdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json, KubeObject } from '../../../kube/object.ts';
import type { Mount } from '../drivers/driver.ts';
import { API_SOURCES, IN_MEMORY, readApiVolume, referencesOf } from './api-volumes.ts';
import { claimNameOf, openClaim } from './claims.ts';
import { containerMounts } from './container-mounts.ts';
import type { PodVolumesOptions } from './create-pod-volumes.ts';
import { writeAtomically } from './disk/atomic-writer.ts';
import { FolderSizes } from './disk/folder-size.ts';
import { mountsUnder } from './disk/mount-table.ts';
import { giveToGroup } from './disk/ownership.ts';
import { removeTree } from './disk/remove-tree.ts';
import { emptyDirOverLimit, setUpEmptyDir } from './empty-dir.ts';
import { prepareHostPath } from './host-path-policy.ts';
import { MemoryFolder } from './memory-folder.ts';
import { nestedMountPoints, usedVolumes } from './model/pod-mounts.ts';
import { sourceOf } from './model/volume-source.ts';
import { PodState, type ReadyVolume } from './pod-state.ts';
import { PodTokens } from './pod-tokens.ts';
import { VolumeError, type PodVolumes, type VolumeUser } from './pod-volumes.ts';
import type { Reference, ReferencedObjects } from './referenced-objects.ts';

type Options = PodVolumesOptions & { objects: ReferencedObjects };

const VOLUMES = 'volumes';
const SUB_PATHS = 'subpaths';
const LONGEST_TIMER_MS = 600_000;
/** Pods whose remains are removed together. */
const AT_ONCE = 8;

export class NodeVolumes implements PodVolumes {
  #options: Options;
  #states = new Map<string, PodState>();
  #sizes: FolderSizes;
  #memory: MemoryFolder;
  #making = new Map<string, Promise<void>>();

  constructor(options: Options) {
    this.#options = options;
    this.#sizes = new FolderSizes(options.clock);
    this.#memory = new MemoryFolder({ path: join(options.dir, 'memory'), canMount: options.isRoot, log: options.log });
  }

  setUp(pod: KubeObject): Promise<void> {
    const uid = pod.metadata.uid!;
    const state = this.#states.get(uid) ?? new PodState(pod, new PodTokens(this.#options));
    this.#states.set(uid, state);
    state.pod = pod;
    return state.inTurn(() => this.#setUpAll(state));
  }

  async mountsOf(pod: KubeObject, container: VolumeUser, env: Record<string, string>): Promise<Mount[]> {
    const uid = pod.metadata.uid!;
    const before = this.#states.get(uid);
    // A container that came to the Pod later may be the first to mount a volume.
    const isNew = container.volumeMounts?.some(({ name }) => !before?.ready.has(name));
    if (isNew || before?.pod !== pod) await this.setUp(pod);
    const ready = this.#states.get(uid)?.ready;
    return containerMounts({
      container,
      env,
      volumeOf: (name) => ready?.get(name),
      subPathFolder: join(this.#folder(uid), SUB_PATHS),
      canMount: this.#options.isRoot,
      log: this.#options.log,
    });
  }

  async tearDown(podUid: string): Promise<void> {
    const state = this.#states.get(podUid);
    state?.end();
    await (state ? state.inTurn(() => this.#remove(podUid)) : this.#remove(podUid));
    for (const { path } of state?.ready.values() ?? []) this.#sizes.forget(path);
    if (this.#states.get(podUid) === state) this.#states.delete(podUid);
  }

  async cleanUp(livePodUids: ReadonlySet<string>): Promise<void> {
    const present = [...(await readdir(join(this.#options.dir, 'pods')).catch(() => [])), ...(await this.#memory.podUids())];
    const dead = [...new Set(present)].filter((uid) => !livePodUids.has(uid) && !this.#states.has(uid));
    for (let start = 0; start < dead.length; start += AT_ONCE) {
      await Promise.all(dead.slice(start, start + AT_ONCE).map((uid) => this.#remove(uid)));
    }
    await this.#memory.tidy();
  }

  async overLimit(pod: KubeObject): Promise<string | undefined> {
    const ready = this.#states.get(pod.metadata.uid!)?.ready;
    for (const volume of pod.spec?.volumes ?? []) {
      const path = volume.emptyDir?.sizeLimit === undefined ? undefined : ready?.get(volume.name)?.path;
      const message = path === undefined ? undefined : await emptyDirOverLimit(volume, path, this.#sizes);
      if (message) return message;
    }
    return undefined;
  }

  stop(): void {
    for (const state of this.#states.values()) state.end();
    this.#options.objects.stop();
  }

  /** Folders that Pods of this node have mounted as claims. */
  isMounted(path: string): boolean {
    return [...this.#states.values()].some(({ ready }) => [...ready.values()].some((volume) => volume.path === path));
  }

  async #setUpAll(state: PodState): Promise<void> {
    if (state.gone) return;
    const volumes = usedVolumes(state.pod);
    const results = await Promise.allSettled(volumes.map((volume) => this.#setUpOne(state, volume)));
    this.#scheduleRenewal(state);
    const failed = results.findIndex(({ status }) => status === 'rejected');
    state.waiting = failed >= 0;
    if (failed >= 0) throw failure(volumes[failed].name, (results[failed] as PromiseRejectedResult).reason);
  }

  async #setUpOne(state: PodState, volume: Json): Promise<void> {
    const source = sourceOf(volume);
    const ready = state.ready.get(volume.name);
    if (API_SOURCES.includes(source)) {
      if (ready) await this.#refreshOne(state, volume, ready);
      else await this.#setUpApiVolume(state, volume, IN_MEMORY.includes(source));
    } else if (ready) return;
    else if (source === 'hostPath') {
      const { path, type = '' } = volume.hostPath;
      const locate = (): Promise<string> => prepareHostPath(path, type, this.#options.hostPathPolicy);
      state.ready.set(volume.name, { path: await locate(), readOnly: false, locate });
    } else if (source === 'emptyDir') await this.#setUpEmptyDir(state, volume);
    else await this.#setUpClaim(state, volume);
  }

  async #setUpEmptyDir(state: PodState, volume: Json): Promise<void> {
    const { isRoot, node } = this.#options;
    const { pod } = state;
    const path = join(this.#folder(pod.metadata.uid!), VOLUMES, volume.name);
    const note = (message: string): void => this.#options.note?.(pod, { type: 'Warning', reason: 'VolumeOnDisk', message });
    await setUpEmptyDir({ pod, volume, path, canMount: isRoot, allocatable: node.allocatable(), note });
    state.ready.set(volume.name, { path, readOnly: false });
  }

  async #setUpClaim(state: PodState, volume: Json): Promise<void> {
    const { client, hostPathPolicy, node, isRoot } = this.#options;
    const { pod } = state;
    const reference: Reference = { kind: 'claim', namespace: pod.metadata.namespace!, name: claimNameOf(pod, volume) };
    const dependencies = { client, hostPathPolicy, volumeFolder: node.volumeFolder, making: this.#making };
    const claimed = await openClaim(pod, volume, dependencies).catch((error: unknown) => {
      this.#hold(state, reference);
      throw new ClaimFailure(messageOf(error));
    });
    this.#release(state, reference);
    const group: number | undefined = pod.spec?.securityContext?.fsGroup;
    if (isRoot && group !== undefined && claimed.mayBeGiven) await this.#giveOnce(state, volume.name, claimed.path, group);
    state.ready.set(volume.name, claimed);
  }

  /** Once in the life of the Pod: an agent that comes after this one finds the mark. */
  async #giveOnce({ pod }: PodState, name: string, path: string, group: number): Promise<void> {
    const folder = join(this.#folder(pod.metadata.uid!), VOLUMES);
    const mark = join(folder, `.given-${name}`);
    const given = await access(mark).then(
      () => true,
      () => false,
    );
    if (given) return;
    const onlyOnMismatch = pod.spec.securityContext.fsGroupChangePolicy === 'OnRootMismatch';
    await giveToGroup(path, { group, readOnly: false, onlyOnMismatch });
    await mkdir(folder, { recursive: true, mode: 0o711 });
    await writeFile(mark, '');
  }

  async #setUpApiVolume(state: PodState, volume: Json, inMemory: boolean): Promise<void> {
    const { objects, node, clock, isRoot } = this.#options;
    const { pod } = state;
    for (const reference of referencesOf(volume, pod.metadata.namespace!)) this.#hold(state, reference);
    const wanted = await readApiVolume(volume, pod, { objects, tokens: state.tokens, allocatable: node.allocatable() });
    const known = state.ready.get(volume.name);
    if (wanted.mark !== undefined && known?.mark === wanted.mark) return;
    const files = wanted.files();
    if (!isRoot) for (const file of files.values()) delete file.user;
    const path = known?.path ?? (await this.#apiFolder(pod, volume.name, inMemory));
    const group: number | undefined = isRoot ? pod.spec?.securityContext?.fsGroup : undefined;
    const setOwner = group === undefined ? undefined : () => giveToGroup(path, { group, readOnly: true, onlyOnMismatch: false });
    await writeAtomically(path, files, { now: clock.now(), setOwner });
    state.ready.set(volume.name, { path, readOnly: true, mark: wanted.mark });
  }

  async #apiFolder(pod: KubeObject, name: string, inMemory: boolean): Promise<string> {
    const uid = pod.metadata.uid!;
    const memory = inMemory ? await this.#memory.folderOf(uid) : undefined;
    const path = join(memory ?? join(this.#folder(uid), VOLUMES), name);
    await mkdir(path, { recursive: true, mode: 0o711 });
    // Whatever our umask is, containers under other users must get in; none can write, because the mount is read-only.
    await chmod(path, 0o777);
    for (const nested of nestedMountPoints(pod, name)) await mkdir(join(path, nested), { recursive: true, mode: 0o755 });
    return path;
  }

  #hold(state: PodState, reference: Reference): void {
    const key = JSON.stringify(reference);
    if (state.gone || state.holds.has(key)) return;
    state.holds.set(
      key,
      this.#options.objects.hold(reference, () => this.#changed(state)),
    );
  }

  #release(state: PodState, reference: Reference): void {
    const key = JSON.stringify(reference);
    state.holds.get(key)?.();
    state.holds.delete(key);
  }

  #changed(state: PodState): void {
    if (state.gone) return;
    if (state.waiting) this.#options.wake?.(state.pod.metadata.uid!);
    else this.#refresh(state);
  }

  /** Brings the files of the Pod up to date. Many changes at once make one run. */
  #refresh(state: PodState): void {
    if (state.refreshing) return;
    state.refreshing = true;
    void state.inTurn(async () => {
      state.refreshing = false;
      if (state.gone) return;
      for (const volume of usedVolumes(state.pod)) {
        const ready = state.ready.get(volume.name);
        if (ready?.mark !== undefined) await this.#refreshOne(state, volume, ready);
      }
      this.#scheduleRenewal(state);
    });
  }

  /** Containers keep the last content that could be had. */
  async #refreshOne(state: PodState, volume: Json, ready: ReadyVolume): Promise<void> {
    try {
      await this.#setUpApiVolume(state, volume, false);
    } catch (error) {
      const { message } = failure(volume.name, error);
      if (ready.problem === message) return;
      ready.problem = message;
      this.#options.log.warn('cannot bring a volume up to date', { pod: state.pod.metadata.name, volume: volume.name, error });
      this.#options.note?.(state.pod, { type: 'Warning', reason: 'FailedMount', message });
    }
  }

  /** A timer, because a token grows old without anything changing. */
  #scheduleRenewal(state: PodState): void {
    state.renewal?.cancel();
    const at = state.tokens.nextRenewal;
    if (at === undefined || state.gone) return;
    const { clock } = this.#options;
    // Timers stand still while the machine sleeps, tokens do not.
    state.renewal = clock.setTimer(Math.min(at - clock.now(), LONGEST_TIMER_MS), () => {
      if (clock.now() < at) this.#scheduleRenewal(state);
      else this.#refresh(state);
    });
  }

  async #remove(uid: string): Promise<void> {
    const folder = this.#folder(uid);
    const names = await readdir(folder).catch(() => []);
    const own = names
      .filter((name) => name === VOLUMES || name === SUB_PATHS || name.startsWith('.removing-'))
      .map((name) => join(folder, name));
    // Behind a mount may be a claim: nothing is removed as long as one is left.
    if ((await mountsUnder(own)).length > 0) await (await import('./disk/mounts.ts')).unmountUnder(own);
    await Promise.all([this.#memory.release(uid), ...own.map((path) => removeTree(path))]);
    // Not empty: others have something of the Pod there, and remove it.
    await rmdir(folder).catch(() => {});
  }

  #folder(uid: string): string {
    return join(this.#options.dir, 'pods', uid);
  }
}

/** Kubernetes prints these in words of their own. */
class ClaimFailure extends Error {}

/** Without the cause: its text is in the message already, which is shown to users as it is. */
function failure(volume: string, error: unknown): VolumeError {
  const text = messageOf(error);
  const message =
    error instanceof ClaimFailure
      ? `Unable to attach or mount volumes: unmounted volumes=[${volume}], unattached volumes=[], failed to process volumes=[${volume}]: ${text}`
      : `MountVolume.SetUp failed for volume "${volume}" : ${text}`;
  return new VolumeError('FailedMount', message);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
