import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PluginManifest } from '../../../src/api/adapstory.com/v1/plugin-manifest.ts';
import { PLATFORM_NAMESPACE } from '../../../src/api/plugins.tenantry.dev/v1alpha1/names.ts';
import { PluginInstallationKind, type PluginInstallation } from '../../../src/api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { PluginVersionKind, pluginVersionName } from '../../../src/api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { PublisherKind } from '../../../src/api/plugins.tenantry.dev/v1alpha1/publisher.ts';
import { GATEWAY_USER, gatewayRights } from '../../../src/areas/plugins/gateway/gateway-rights.ts';
import type { Client } from '../../../src/client/client.ts';
import { Event, Namespace, Secret } from '../../../src/client/kinds.ts';
import type { Session } from '../../../src/cli/terminal/session.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { signImage } from '../../../src/lib/cosign/sign-image.ts';
import { readSigningKey, type SigningKey } from '../../../src/lib/cosign/signing-keys.ts';
import { NO_PROXY } from '../../../src/lib/oci/proxy-settings.ts';
import { imageReference, Repository } from '../../../src/lib/oci/repository.ts';
import { installObjects } from '../../../src/main/areas.ts';
import { registriesPath } from '../../../src/main/registries-file.ts';
import type { ApiTarget } from '../../support/api-target.ts';
import { startTestRegistry, type TestRegistry } from '../../support/oci-registry.ts';
import { TenantWorld } from '../../conformance/tenancy/tenant-world.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';
import { startEmbeddedTarget } from '../../support/embedded-target.ts';

/** The parts of a manifest that a test is about. */
export type Parts = Partial<Omit<PluginManifest['spec'], 'runtime'>> & {
  runtime?: Partial<PluginManifest['spec']['runtime']>;
  files?: Record<string, string>;
};

export function aManifest(
  publisher: string,
  name: string,
  version: string,
  image: string,
  { runtime, ...spec }: Parts = {},
): PluginManifest {
  const resources = { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '500m', memory: '128Mi' } };
  return {
    apiVersion: 'adapstory.com/v1',
    kind: 'Plugin',
    metadata: { name, version, publisher },
    spec: {
      runtime: { image, resources, startupProbe: { path: '/health', port: 8080 }, ...runtime },
      ...spec,
    },
  };
}

/** An engine with plugins, a registry, and publishers; the test plays the kubelet. */
export class PluginWorld {
  readonly tenants: TenantWorld;
  readonly target: ApiTarget;

  readonly #registry: TestRegistry;
  readonly #keys: Record<string, SigningKey> = {};

  private constructor(target: ApiTarget, tenants: TenantWorld, registry: TestRegistry) {
    this.target = target;
    this.tenants = tenants;
    this.#registry = registry;
  }

  static async start(): Promise<PluginWorld> {
    const target = await startEmbeddedTarget(ownCustomResourceDefinitions);
    mkdirSync(join(target.data, 'node'), { recursive: true });
    return PluginWorld.over(target, registriesPath(target.data));
  }

  /** On a server that is there; how its registry is reached is written to the file. */
  static async over(target: ApiTarget, registriesFile: string, tenants?: TenantWorld): Promise<PluginWorld> {
    const registry = await startTestRegistry();
    writeFileSync(registriesFile, `registries:\n  "${registry.host}":\n    insecure: true\n`);
    return new PluginWorld(target, tenants ?? (await TenantWorld.over(target)), registry);
  }

  async stop(): Promise<void> {
    await this.tenants.stop();
    await this.stopRegistry();
  }

  /** For those whose server somebody else stops. */
  async stopRegistry(): Promise<void> {
    await this.#registry.close();
  }

  get client() {
    return this.tenants.client;
  }

  /** With the rights of a gateway and no others. */
  async gatewayClient(): Promise<Client> {
    await this.client.resource(Namespace).apply({ metadata: { name: PLATFORM_NAMESPACE } }, { fieldManager: 'test' });
    await installObjects(this.client, gatewayRights());
    return this.tenants.as(GATEWAY_USER);
  }

  /** What a command has of the terminal and of this world. */
  session(say: (text: string) => void): Session {
    const cluster = { client: this.client, server: 'here' } as Session['cluster'];
    const terminal = { isTerminal: false, errIsTerminal: false, isColoured: false, size: () => ({ columns: 200, rows: 50 }) };
    const nobody = { read: () => Promise.resolve(''), line: () => Promise.resolve(''), env: {}, onInterrupt: () => () => {} };
    return { ...terminal, ...nobody, out: say, err: say, clock: realClock, cluster, namespace: 'default' };
  }

  /** A publisher with these keys. */
  async publisher(name: string, ...keys: string[]): Promise<void> {
    const spec = { keys: keys.map((id) => ({ id, publicKey: this.#key(id).publicKey })) };
    await this.client.resource(PublisherKind).apply({ metadata: { name }, spec }, { fieldManager: 'test', force: true });
  }

  /** A version with an image of its own, signed. @returns the image by its digest */
  async version(
    publisher: string,
    plugin: string,
    version: string,
    { files = {}, ...parts }: Parts = {},
    key = publisher,
  ): Promise<string> {
    const repository = `${publisher}/${plugin}`;
    const image = `${this.#registry.host}/${repository}:${version}`;
    this.#registry.push(repository, version, { layers: [[{ name: 'app', content: version }]], config: { User: '10001' } });
    const digest = await this.#sign(image, version, this.#key(key));
    const manifest = aManifest(publisher, plugin, version, image, parts);
    const name = pluginVersionName(publisher, plugin, version);
    await this.client.resource(PluginVersionKind).create({ metadata: { name }, spec: { publisher, plugin, version, manifest, files } });
    await this.tenants.eventually(async () => (await this.client.resource(PluginVersionKind).get(name)).status?.phase);
    return `${this.#registry.host}/${repository}@${digest}`;
  }

  /** An image at the tag of a version, which may have been another before. @returns its digest */
  push(publisher: string, plugin: string, version: string, content: string): string {
    const repository = `${publisher}/${plugin}`;
    return this.#registry.push(repository, version, { layers: [[{ name: 'app', content }]], config: { User: '10001' } }).digest;
  }

  /** Where the image of a version is. */
  imageOf(publisher: string, plugin: string, version: string): string {
    return `${this.#registry.host}/${publisher}/${plugin}:${version}`;
  }

  /** Signs what is at the tag of a version. */
  async sign(publisher: string, plugin: string, version: string, key = publisher): Promise<void> {
    await this.#sign(this.imageOf(publisher, plugin, version), version, this.#key(key));
  }

  async #sign(image: string, tag: string, key: SigningKey): Promise<string> {
    const { signal } = new AbortController();
    const registries = { registries: { [this.#registry.host]: { mirrors: [], insecure: true } } };
    const repository = new Repository(imageReference(image), [], { clock: realClock, proxy: NO_PROXY, registries });
    const { digest, bytes, contentType } = await repository.manifest(tag, signal);
    await signImage(repository, { name: image, digest, mediaType: contentType!, size: bytes.length }, key, new Date(), signal);
    repository.close();
    return digest;
  }

  #key(id: string): SigningKey {
    const pem = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
    return (this.#keys[id] ??= readSigningKey(pem().toString()));
  }

  install(tenant: string, plugin: string, spec: Partial<PluginInstallation['spec']> = {}, name = plugin): Promise<PluginInstallation> {
    return this.client
      .resource(PluginInstallationKind, tenant)
      .create({ metadata: { name }, spec: { publisher: 'acme', plugin, ...spec } });
  }

  get(tenant: string, name: string): Promise<PluginInstallation> {
    return this.client.resource(PluginInstallationKind, tenant).get(name);
  }

  async until(tenant: string, name: string, wanted: (installation: PluginInstallation) => boolean): Promise<PluginInstallation> {
    let last: PluginInstallation | undefined;
    try {
      return await this.tenants.eventually(async () => {
        last = await this.get(tenant, name);
        return wanted(last) ? last : undefined;
      });
    } catch (error) {
      throw new Error(`Installation "${tenant}/${name}" did not become as wanted: ${JSON.stringify(last?.status)}`, { cause: error });
    }
  }

  phase(tenant: string, name: string, phase: string): Promise<PluginInstallation> {
    return this.until(tenant, name, ({ status, metadata }) => status?.phase === phase && status.observedGeneration === metadata.generation);
  }

  patch(tenant: string, name: string, spec: object): Promise<PluginInstallation> {
    return this.client.resource(PluginInstallationKind, tenant).patch(name, { type: 'merge', patch: { spec } });
  }

  find(namespace: string): Promise<KubeObject | undefined> {
    return this.tenants.find(() => this.client.resource<KubeObject>(Namespace).get(namespace));
  }

  /** The token in a plugin's namespace. */
  async token(namespace: string): Promise<string> {
    const secret = await this.client.resource<KubeObject>(Secret, namespace).get('plugin-token');
    return Buffer.from(secret.data.token, 'base64').toString();
  }

  /** The transitions that were told about an installation, in order. */
  async transitions(tenant: string, name: string): Promise<string[]> {
    const { items } = await this.client.resource<KubeObject>(Event, tenant).list();
    return items
      .filter((event) => event['regarding']?.kind === 'PluginInstallation' && event['regarding'].name === name)
      .sort((a, b) => String(a['eventTime']).localeCompare(String(b['eventTime'])))
      .map((event) => String(event['note']).split(';')[0]);
  }
}
