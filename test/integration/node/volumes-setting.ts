import { mkdtemp, readFile, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Client } from '../../../src/client/client.ts';
import { connectContext } from '../../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../../src/client/config/kubeconfig.ts';
import { ConfigMap, Namespace, Pod, ServiceAccount } from '../../../src/client/kinds.ts';
import { createPodVolumes, type PodVolumesOptions, type VolumeNote } from '../../../src/engine/node/volumes/create-pod-volumes.ts';
import type { NodeVolumes } from '../../../src/engine/node/volumes/node-volumes.ts';
import { ReferencedObjects } from '../../../src/engine/node/volumes/referenced-objects.ts';
import type { Json, KubeObject } from '../../../src/kube/object.ts';
import { FakeClock } from '../../../src/lib/clock-fake.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { eventually } from '../controllers/eventually.ts';

export interface MountedVolume {
  volume: Json;
  /** What differs from a mount at `/<name of the volume>`. */
  mount?: Json;
}

let namespaces = 0;

/** As the admin, or as whom the headers say. */
export async function clientOf(kubeconfig: string, headers: Record<string, string> = {}): Promise<Client> {
  return createClient(await connectContext(resolveContext(await loadKubeconfig({ path: kubeconfig }))), { headers });
}

/** Volumes of a node without a node: a namespace of its own in a running engine, a folder, and a clock that stands still. */
export class VolumesSetting {
  readonly client: Client;
  readonly namespace: string;
  readonly dir: string;
  readonly clock = new FakeClock(Date.now());
  readonly notes: VolumeNote[] = [];
  readonly woken: string[] = [];
  objects!: ReferencedObjects;
  volumes!: NodeVolumes;

  private constructor(client: Client, namespace: string, dir: string) {
    this.client = client;
    this.namespace = namespace;
    this.dir = dir;
  }

  static async make(client: Client, options: Partial<PodVolumesOptions> = {}): Promise<VolumesSetting> {
    const name = `volumes-${process.pid}-${namespaces++}`;
    await client.resource(Namespace).create({ metadata: { name } });
    for (const kind of [ServiceAccount, ConfigMap]) {
      await eventually(
        () => client.resource(kind, name).list(),
        ({ items }) => items.length > 0,
      );
    }
    const setting = new VolumesSetting(client, name, await realpath(await mkdtemp(join(tmpdir(), 'tenantry-volumes-'))));
    setting.restart(options);
    return setting;
  }

  /** As after a crash: nothing of before is known. */
  restart(options: Partial<PodVolumesOptions> = {}): void {
    this.volumes?.stop();
    const client = options.client ?? this.client;
    this.objects = new ReferencedObjects({ client, log: silentLog });
    this.volumes = createPodVolumes({
      client,
      clock: this.clock,
      log: silentLog,
      dir: this.dir,
      hostPathPolicy: [],
      isRoot: false,
      objects: this.objects,
      node: { name: 'n1', allocatable: () => ({ cpu: '2', memory: '4Gi' }) },
      wake: (uid) => this.woken.push(uid),
      note: (_, note) => this.notes.push(note),
      random: () => 0,
      ...options,
    });
  }

  async end(): Promise<void> {
    this.volumes.stop();
    await rm(this.dir, { recursive: true, force: true });
  }

  /** A Pod with one container that mounts each of the volumes. */
  aPod(name: string, mounted: MountedVolume[], spec: Json = {}, metadata: Json = {}): Promise<KubeObject> {
    const volumeMounts = mounted.map(({ volume, mount }) => ({ name: volume.name, mountPath: `/${volume.name}`, ...mount }));
    return this.client.resource<KubeObject>(Pod, this.namespace).create({
      metadata: { name, ...metadata },
      spec: {
        automountServiceAccountToken: false,
        containers: [{ name: 'main', image: 'tenantry.dev/tools', volumeMounts }],
        volumes: mounted.map(({ volume }) => volume),
        ...spec,
      },
    });
  }

  putConfigMap(name: string, data: Record<string, string>): Promise<KubeObject> {
    const resource = this.client.resource<KubeObject>(ConfigMap, this.namespace);
    return resource.apply({ metadata: { name }, data }, { fieldManager: 'test', force: true });
  }

  /** Where the volume that is mounted under its own name is on the machine. */
  async sourceOf(pod: KubeObject, volume: string): Promise<string> {
    const mounts = await this.volumes.mountsOf(pod, pod.spec.containers[0], {});
    return mounts.find(({ target }) => target === `/${volume}`)!.source;
  }

  async textOf(pod: KubeObject, volume: string, file: string): Promise<string> {
    return readFile(join(await this.sourceOf(pod, volume), file), 'utf8');
  }

  folderOf(pod: KubeObject): string {
    return join(this.dir, 'pods', pod.metadata.uid!);
  }
}

export function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
