import { PLATFORM_NAMESPACE, PLATFORM_SETTINGS } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { InstallationReason } from '../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { waiting, type Outcome } from '../../../runtime/steps/outcome.ts';
import type { Target } from '../installation/model/target.ts';
import type { ExternalSecrets } from './external/external-secrets.ts';
import { externalSettings, type ExternalSettings } from './external/external-settings.ts';
import type { SecretBackend } from './secret-backend.ts';
import type { StoredSecrets } from './stored-secrets.ts';

/** The backend that the platform's settings name: the embedded store unless they name another. */
export class PlatformSecrets implements SecretBackend {
  readonly stored: StoredSecrets;
  readonly external: ExternalSecrets;
  readonly #settings: Informer;
  #known: { from: KubeObject | undefined; settings: ExternalSettings | Error | undefined } | undefined;

  constructor(settings: Informer, stored: StoredSecrets, external: ExternalSecrets) {
    this.#settings = settings;
    this.stored = stored;
    this.external = external;
  }

  async fetch(targets: readonly Target[]): Promise<Outcome | undefined> {
    const settings = this.#current();
    if (settings instanceof Error) return waiting(InstallationReason.SecretBackendUnavailable, settings.message);
    if (settings) return this.external.fetch(targets, settings);
    return this.external.remove(targets[0].namespace);
  }

  read(path: string): Readonly<Record<string, string>> | undefined {
    return this.#isExternal() ? this.external.read(path) : this.stored.read(path);
  }

  howToPut(path: string): string {
    if (!this.#isExternal()) return this.stored.howToPut(path);
    const why = this.external.whyMissing(path);
    return why === undefined ? 'the External Secrets Operator has not brought it yet' : `the External Secrets Operator says ${why}`;
  }

  /** What an external backend holds is its own: the platform may only read there. */
  removeBelow(prefix: string): Promise<void> {
    return this.stored.removeBelow(prefix);
  }

  #isExternal(): boolean {
    return this.#current() !== undefined;
  }

  #current(): ExternalSettings | Error | undefined {
    const from = this.#settings.find(PLATFORM_NAMESPACE, PLATFORM_SETTINGS);
    if (this.#known === undefined || this.#known.from !== from) {
      let settings: ExternalSettings | Error | undefined;
      try {
        settings = externalSettings(from);
      } catch (error) {
        settings = error as Error;
      }
      this.#known = { from, settings };
    }
    return this.#known.settings;
  }
}
