import {
  PLATFORM_NAMESPACE,
  SECRET_PATH_ANNOTATION,
  secretPathOf,
  STORED_SECRET_LABEL,
} from '../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { isSecretPlace, readSecretPath, storedSecretName, type SecretPlace } from '../../api/plugins.tenantry.dev/v1alpha1/secret-path.ts';
import { Secret } from '../../client/kinds.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Session } from '../terminal/session.ts';

/** An entry of the embedded store: which Secret it is, and what it is called. Values are not looked at. */
export interface StoredSecret extends SecretPlace {
  secret: KubeObject;
  properties: string[];
}

/** `hello/api` of a tenant. @throws when it leads anywhere else */
export function placeOf(text: string, tenant: string, doing: string): SecretPlace {
  const slash = text.indexOf('/');
  const place = { plugin: text.slice(0, Math.max(slash, 0)), tenant, path: text.slice(slash + 1) };
  if (slash > 0 && isSecretPlace(place)) return place;
  throw new Error(
    `Cannot ${doing} "${text}": it is no secret; write <plugin>/<path>, with letters, digits, - _ . and no part that begins with a dot`,
  );
}

export function pathOf({ plugin, tenant, path }: SecretPlace): string {
  return secretPathOf(plugin, tenant, path);
}

export async function storedSecrets(session: Session): Promise<StoredSecret[]> {
  const { items } = await session.cluster.client
    .resource<KubeObject>(Secret, PLATFORM_NAMESPACE)
    .listAll({ labelSelector: STORED_SECRET_LABEL });
  return items
    .flatMap((secret) => {
      const place = readSecretPath(secret.metadata.annotations?.[SECRET_PATH_ANNOTATION] ?? '');
      const properties = Object.keys(secret.data ?? {}).toSorted((a, b) => a.localeCompare(b));
      return place === undefined ? [] : [{ ...place, secret, properties }];
    })
    .toSorted((a, b) => pathOf(a).localeCompare(pathOf(b)) || a.secret.metadata.name!.localeCompare(b.secret.metadata.name!));
}

/** The one at a place: by its name, else one that somebody made by hand. */
export async function storedAt(session: Session, place: SecretPlace): Promise<StoredSecret | undefined> {
  const path = pathOf(place);
  const found = (await storedSecrets(session)).filter((each) => pathOf(each) === path);
  return found.find(({ secret }) => secret.metadata.name === storedSecretName(path)) ?? found[0];
}
