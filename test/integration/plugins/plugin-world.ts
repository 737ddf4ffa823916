import type { PluginManifest } from '../../../src/api/adapstory.com/v1/plugin-manifest.ts';
import { PluginInstallationKind, type PluginInstallation } from '../../../src/api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { PluginVersionKind, pluginVersionName, type PluginVersion } from '../../../src/api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { Event, Namespace, Secret } from '../../../src/client/kinds.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { TenantWorld } from '../../conformance/tenancy/tenant-world.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';
import { startEmbeddedTarget } from '../../support/embedded-target.ts';

export const DIGEST = `sha256:${'a'.repeat(64)}`;

/** The parts of a manifest that a test is about. */
export type Parts = Partial<Omit<PluginManifest['spec'], 'runtime'>> & { runtime?: Partial<PluginManifest['spec']['runtime']> };

export function aManifest(publisher: string, name: string, version: string, { runtime, ...spec }: Parts = {}): PluginManifest {
  const resources = { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '500m', memory: '128Mi' } };
  return {
    apiVersion: 'adapstory.com/v1',
    kind: 'Plugin',
    metadata: { name, version, publisher },
    spec: {
      runtime: { image: `registry.example/${name}:${version}`, resources, startupProbe: { path: '/health', port: 8080 }, ...runtime },
      ...spec,
    },
  };
}

/** An engine with plugins, on which the test plays the version controller and the kubelet. */
export class PluginWorld {
  readonly tenants: TenantWorld;

  private constructor(tenants: TenantWorld) {
    this.tenants = tenants;
  }

  static async start(): Promise<PluginWorld> {
    return new PluginWorld(await TenantWorld.over(await startEmbeddedTarget(ownCustomResourceDefinitions)));
  }

  get client() {
    return this.tenants.client;
  }

  /** A version as its controller leaves it. */
  async version(
    publisher: string,
    plugin: string,
    version: string,
    parts: Parts = {},
    phase: 'VERIFIED' | 'DRAFT' = 'VERIFIED',
  ): Promise<PluginVersion> {
    const name = pluginVersionName(publisher, plugin, version);
    const manifest = aManifest(publisher, plugin, version, parts);
    await this.client.resource(PluginVersionKind).create({ metadata: { name }, spec: { publisher, plugin, version, manifest } });
    return this.verdict(name, phase, `registry.example/${plugin}@${DIGEST}`);
  }

  verdict(name: string, phase: 'VERIFIED' | 'DRAFT' | 'REVOKED', image: string): Promise<PluginVersion> {
    const message = phase === 'VERIFIED' ? '' : 'no signature by a key of its publisher';
    const ready = {
      type: 'Ready',
      status: phase === 'VERIFIED' ? 'True' : 'False',
      reason: phase,
      message,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const status = { phase, image, observedGeneration: 1, conditions: [ready] };
    return this.client.resource(PluginVersionKind).status.patch(name, { type: 'merge', patch: { status } });
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
