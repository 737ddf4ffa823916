import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PluginManifest } from '../../src/api/adapstory.com/v1/plugin-manifest.ts';
import { PluginInstallationKind } from '../../src/api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { PluginVersionKind, pluginVersionName } from '../../src/api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { PublisherKind } from '../../src/api/plugins.tenantry.dev/v1alpha1/publisher.ts';
import { TenantKind } from '../../src/api/tenantry.dev/v1alpha1/tenant.ts';
import type { Client } from '../../src/client/client.ts';
import type { ResourceClient } from '../../src/client/resource-client.ts';
import { isConditionTrue } from '../../src/kube/conditions.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { realClock } from '../../src/lib/clock.ts';
import { signImage } from '../../src/lib/cosign/sign-image.ts';
import { readSigningKey } from '../../src/lib/cosign/signing-keys.ts';
import { NO_PROXY } from '../../src/lib/oci/proxy-settings.ts';
import { imageReference, Repository } from '../../src/lib/oci/repository.ts';
import { startTestRegistry, type TestRegistry } from '../../test/support/oci-registry.ts';

const PEM = { type: 'pkcs8', format: 'pem' } as const;

/** A folder, a registry and a publisher, for as long as a measurement takes. */
export class PluginBench {
  readonly data: string;
  readonly registry: TestRegistry;
  readonly #key = readSigningKey(generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey.export(PEM).toString());
  readonly #folder: string;

  private constructor(folder: string, registry: TestRegistry) {
    this.#folder = folder;
    this.data = join(folder, 'data');
    this.registry = registry;
  }

  static async start(): Promise<PluginBench> {
    const bench = new PluginBench(mkdtempSync(join(tmpdir(), 'tenantry-bench-plugins-')), await startTestRegistry());
    mkdirSync(join(bench.data, 'node'), { recursive: true, mode: 0o700 });
    writeFileSync(join(bench.data, 'node/registries.yaml'), `registries:\n  "${bench.registry.host}":\n    insecure: true\n`);
    return bench;
  }

  async stop(): Promise<void> {
    await this.registry.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async publisher(client: Client): Promise<void> {
    const spec = { keys: [{ id: 'first', publicKey: this.#key.publicKey }] };
    await client.resource(PublisherKind).create({ metadata: { name: 'acme' }, spec });
  }

  /** Signs the image that the registry has under this name, and publishes a version of it. @returns milliseconds until it was VERIFIED */
  async publish(
    client: Client,
    plugin: string,
    spec: Partial<PluginManifest['spec']> & { runtime?: object },
    files = {},
    version = '1.0.0',
  ): Promise<number> {
    const image = `${this.registry.host}/acme/${plugin}:${version}`;
    const { signal } = new AbortController();
    const registries = { registries: { [this.registry.host]: { mirrors: [], insecure: true } } };
    const repository = new Repository(imageReference(image), [], { clock: realClock, proxy: NO_PROXY, registries });
    const { digest, bytes, contentType } = await repository.manifest(version, signal);
    await signImage(repository, { name: image, digest, mediaType: contentType!, size: bytes.length }, this.#key, new Date(), signal);
    repository.close();
    const resources = { requests: { cpu: '10m', memory: '32Mi' }, limits: { cpu: '500m', memory: '128Mi' } };
    const { runtime, ...rest } = spec;
    const manifest = {
      apiVersion: 'adapstory.com/v1',
      kind: 'Plugin',
      metadata: { name: plugin, version, publisher: 'acme' },
      spec: { runtime: { image, resources, startupProbe: { path: '/health', port: 8080, periodSeconds: 1 }, ...runtime }, ...rest },
    } as PluginManifest;
    const name = pluginVersionName('acme', plugin, version);
    const started = performance.now();
    await client.resource(PluginVersionKind).create({ metadata: { name }, spec: { publisher: 'acme', plugin, version, manifest, files } });
    await until(client.resource(PluginVersionKind), name, ({ status }) => status?.phase === 'VERIFIED');
    return performance.now() - started;
  }

  async tenant(client: Client, name: string): Promise<void> {
    await client.resource(TenantKind).create({ metadata: { name }, spec: {} });
    await until(client.resource(TenantKind), name, ({ status }) => isConditionTrue(status?.conditions, 'Ready'));
  }

  /** @returns milliseconds until it was ACTIVE */
  async install(client: Client, tenant: string, plugin: string): Promise<number> {
    const started = performance.now();
    const spec = { publisher: 'acme', plugin, version: '1.0.0' };
    await client.resource(PluginInstallationKind, tenant).create({ metadata: { name: plugin }, spec });
    await until(client.resource(PluginInstallationKind, tenant), plugin, ({ status }) => status?.phase === 'ACTIVE');
    return performance.now() - started;
  }
}

/** Follows one object until it is as wanted. */
async function until<T extends KubeObject>(resource: ResourceClient<T>, name: string, wanted: (object: T) => boolean): Promise<void> {
  const first = await resource.get(name);
  if (wanted(first)) return;
  const { resourceVersion } = first.metadata;
  for await (const update of resource.watch({ fieldSelector: `metadata.name=${name}`, resourceVersion })) {
    if ('object' in update && wanted(update.object)) return;
  }
}

export function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)];
  return `median ${middle.toFixed(0)} ms, least ${sorted[0].toFixed(0)}, most ${sorted.at(-1)!.toFixed(0)}`;
}
