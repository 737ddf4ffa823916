import { EMBEDDED_POSTGRES, PLATFORM_NAMESPACE } from '../../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { Client } from '../../../../client/client.ts';
import { Namespace, Secret } from '../../../../client/kinds.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { isStatusError } from '../../../../kube/status.ts';
import { FIELD_MANAGER } from '../../installation/plugin-objects.ts';
import type { EmbeddedServerOptions, ServerSecret } from './embedded-server.ts';

/** In a Secret of the platform, which is sealed like all of them. */
export function serverSecret(client: Client): EmbeddedServerOptions['secret'] {
  const secrets = client.resource<KubeObject>(Secret, PLATFORM_NAMESPACE);
  return {
    async read() {
      try {
        const { data = {} } = await secrets.get(EMBEDDED_POSTGRES);
        const [password, port] = ['password', 'port'].map((name) => Buffer.from(String(data[name] ?? ''), 'base64').toString());
        return password === '' ? undefined : { password, port: Number(port) };
      } catch (error) {
        if (isStatusError(error, 'NotFound')) return undefined;
        throw error;
      }
    },
    async write({ password, port }: ServerSecret) {
      const metadata = { name: EMBEDDED_POSTGRES, namespace: PLATFORM_NAMESPACE };
      const data = Object.fromEntries(
        Object.entries({ password, port: String(port) }).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
      );
      const write = () => secrets.apply({ metadata, data }, { fieldManager: FIELD_MANAGER, force: true });
      try {
        await write();
      } catch (error) {
        if (!isStatusError(error, 'NotFound')) throw error;
        await ensureNamespace(client);
        await write();
      }
    },
  };
}

async function ensureNamespace(client: Client): Promise<void> {
  try {
    await client.resource(Namespace).create({ metadata: { name: PLATFORM_NAMESPACE } });
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error;
  }
}
