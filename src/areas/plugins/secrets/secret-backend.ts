import { PLATFORM_NAMESPACE, SECRET_PATH_ANNOTATION, STORED_SECRET_LABEL } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { Client } from '../../../client/client.ts';
import { Secret } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';

/** Where the secrets of plugins are kept, by path. */
export interface SecretBackend {
  /** The properties at a path, in base64. */
  read(path: string): Readonly<Record<string, string>> | undefined;
  /** How an administrator puts one there. */
  howToPut(path: string): string;
  /** All below a path are gone. */
  removeBelow(prefix: string): Promise<void>;
}

/** The Secrets of the platform's namespace that carry a path. */
export class StoredSecrets implements SecretBackend {
  readonly informer: Informer;
  readonly #client: Client;

  constructor(client: Client, informers: SharedInformers) {
    this.#client = client;
    this.informer = informers.get(Secret, { namespace: PLATFORM_NAMESPACE, labelSelector: STORED_SECRET_LABEL });
    this.informer.addIndex('path', (secret) => pathsOf(secret));
  }

  read(path: string): Readonly<Record<string, string>> | undefined {
    return this.informer.byIndex('path', path)[0]?.data as Record<string, string> | undefined;
  }

  howToPut(path: string): string {
    return `make a Secret in ${PLATFORM_NAMESPACE} with the label ${STORED_SECRET_LABEL}=true and the annotation ${SECRET_PATH_ANNOTATION}=${path}`;
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

export function pathsOf({ metadata }: KubeObject): string[] {
  const path = metadata.annotations?.[SECRET_PATH_ANNOTATION];
  return path === undefined ? [] : [path];
}
