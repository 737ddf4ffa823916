import { PLATFORM_NAMESPACE, SECRET_PATH_ANNOTATION, STORED_SECRET_LABEL } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { readSecretPath } from '../../../api/plugins.tenantry.dev/v1alpha1/secret-path.ts';
import type { Client } from '../../../client/client.ts';
import { Secret } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import type { SecretBackend } from './secret-backend.ts';

/** The embedded store: Secrets of the platform's namespace that carry a path. At rest they are as encrypted as all Secrets there. */
export class StoredSecrets implements SecretBackend {
  readonly informer: Informer;
  readonly #client: Client;

  constructor(client: Client, informers: SharedInformers) {
    this.#client = client;
    this.informer = informers.get(Secret, { namespace: PLATFORM_NAMESPACE, labelSelector: STORED_SECRET_LABEL });
    this.informer.addIndex('path', (secret) => pathsOf(secret));
  }

  async fetch(): Promise<undefined> {}

  /** Of two with one path the older counts, whatever order they were seen in. */
  read(path: string): Readonly<Record<string, string>> | undefined {
    const [first] = this.informer.byIndex('path', path).toSorted(byAge);
    return first && ((first.data ?? {}) as Record<string, string>);
  }

  howToPut(path: string): string {
    const place = readSecretPath(path);
    return place
      ? `\`tenantry secrets put ${place.plugin}/${place.path} --tenant ${place.tenant}\` puts one there`
      : `"${path}" is no path`;
  }

  async removeBelow(prefix: string): Promise<void> {
    const stored = [...this.informer.list()].filter((secret) => pathsOf(secret).some((path) => path.startsWith(prefix)));
    for (const { metadata } of stored) {
      try {
        await this.#client.resource(Secret, PLATFORM_NAMESPACE).delete(metadata.name!);
      } catch (error) {
        if (!isStatusError(error, 'NotFound')) throw error;
      }
    }
  }
}

/** One that is no path of a plugin is nobody's. */
export function pathsOf({ metadata }: KubeObject): string[] {
  const path = metadata.annotations?.[SECRET_PATH_ANNOTATION];
  return path === undefined || readSecretPath(path) === undefined ? [] : [path];
}

function byAge({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  return (a.creationTimestamp ?? '').localeCompare(b.creationTimestamp ?? '') || a.name!.localeCompare(b.name!);
}
