import type { KeyObject } from 'node:crypto';
import { PLATFORM_NAMESPACE, PLUGINS_GROUP, TOKEN_JWKS } from '../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { PluginInstallation } from '../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { SUSPENDED_ANNOTATION } from '../api/tenantry.dev/v1alpha1/names.ts';
import { tokenDocuments } from '../areas/plugins/identity/token-documents.ts';
import { keysOf, verifyPluginToken } from '../areas/plugins/identity/verify-plugin-token.ts';
import type { TokenAuthenticator } from '../engine/apiserver/auth/authentication/token-authenticator.ts';
import { realClock } from '../lib/clock.ts';
import type { ApiRequest, ApiResponse } from '../engine/apiserver/chain/request.ts';
import type { ObjectReader } from '../engine/apiserver/registry/objects.ts';

const INSTALLATIONS = { group: 'plugins.tenantry.dev', resource: 'plugininstallations' };
const CONFIG_MAPS = { group: '', resource: 'configmaps' };
const NAMESPACES = { group: '', resource: 'namespaces' };
/** Verifiers should learn of a key that is gone within minutes. */
const CACHE_CONTROL = 'public, max-age=60';

/** Plugins as users of the embedded API server: by the tokens that they have anyway, for as long as their installations are at work. */
function pluginTokenAuthenticator(reader: ObjectReader, now: () => number): TokenAuthenticator {
  const keys = publishedKeys(reader);
  const ports = {
    keys,
    now,
    installation: (tenant: string, plugin: string) =>
      reader
        .list<PluginInstallation>(INSTALLATIONS, tenant)
        .find(({ spec, status }) => spec.plugin === plugin && status?.identity !== undefined),
    isSuspended: ({ metadata, spec }: PluginInstallation) =>
      spec.suspended === true ||
      reader.get(NAMESPACES, '', metadata.namespace!)?.metadata.annotations?.[SUSPENDED_ANNOTATION] !== undefined,
  };
  return {
    authenticate(token, audiences) {
      const found = verifyPluginToken(token, ports);
      if (!found) return undefined;
      const { subject, tenant, publisher } = found;
      const groups = [PLUGINS_GROUP, `${PLUGINS_GROUP}:${tenant}`, 'system:authenticated'];
      const user = { name: subject, groups, extra: { 'plugins.tenantry.dev/publisher': [publisher] } };
      // Looked at again for every request: what it depends on may change in any of them.
      return { user, audiences: [...audiences], expires: now(), dependsOn: [] };
    },
  };
}

function publishedKeys(reader: ObjectReader): () => Map<string, KeyObject> {
  let known: { text: string; keys: Map<string, KeyObject> } | undefined;
  return () => {
    const text = jwksIn(reader) ?? '{}';
    if (known?.text !== text) known = { text, keys: keysOf(text) };
    return known.keys;
  };
}

function jwksIn(reader: ObjectReader): string | undefined {
  return reader.get(CONFIG_MAPS, PLATFORM_NAMESPACE, TOKEN_JWKS)?.data?.['jwks.json'] as string | undefined;
}

/** What a relying party asks for: another API server, or a gateway. */
function pluginTokenPaths(reader: ObjectReader): [string, (request: ApiRequest) => ApiResponse][] {
  const answers = Object.entries(tokenDocuments(() => jwksIn(reader)));
  return answers.map(([path, document]) => [
    path,
    ({ headers }) => {
      const { contentType, text } = document(String(headers.host ?? headers[':authority']));
      return { status: 200, headers: { 'cache-control': CACHE_CONTROL }, body: { kind: 'raw', contentType, bytes: Buffer.from(text) } };
    },
  ]);
}

/** For an API server whose users plugins are. */
export const PLUGIN_USERS = {
  moreTokens: (reader: ObjectReader) => [pluginTokenAuthenticator(reader, () => realClock.now())],
  morePaths: pluginTokenPaths,
};
