/** What plugins and publishers may be called: parts of namespaces, paths, roles and topics, so nothing that means something there. */
export const PLUGIN_NAME = '^[a-z]([a-z0-9]|-[a-z0-9])*$';
export const PUBLISHER_NAME = '^[a-z]([-a-z0-9]*[a-z0-9])?$';

/** On the namespace of a plugin and on everything in it. The tenant is `tenantry.dev/tenant`, which the tree writes. */
export const PLUGIN_LABEL = 'plugins.tenantry.dev/plugin';
export const PUBLISHER_LABEL = 'plugins.tenantry.dev/publisher';
export const VERSION_LABEL = 'plugins.tenantry.dev/version';
/** On everything that the installation controller keeps. */
export const MANAGED_LABEL = 'plugins.tenantry.dev/managed';
/** On the namespace of a plugin: which PluginInstallation of its tenant it belongs to. */
export const INSTALLATION_ANNOTATION = 'plugins.tenantry.dev/installation';
/**
 * On the namespace of a plugin whose tenant lives in a cluster: that cluster, when the plugin is at work there; `kept-from:<cluster>`, when it
 * cannot be. Absent: it is on the host, or on its way.
 */
export const PLACE_ANNOTATION = 'plugins.tenantry.dev/place';
/** In a tenant's cluster, on all that the platform put there for plugins: the tenant. */
export const PLACED_FROM_LABEL = 'plugins.tenantry.dev/placed-from';
export const INSTALLATION_FINALIZER = 'plugins.tenantry.dev/installation';

/** On a PluginVersion: a value that is not yet in `status.observedRecheck` has the registry asked at once. */
export const RECHECK_ANNOTATION = 'plugins.tenantry.dev/recheck';

/** On a PluginInstallation: a value that is not yet in `status.observedRetry` has a version tried again that was taken back. */
export const RETRY_ANNOTATION = 'plugins.tenantry.dev/retry';
/** On a PluginInstallation: a value that the credentials of its backends were not made for has them replaced. */
export const ROTATE_ANNOTATION = 'plugins.tenantry.dev/rotate';
/** On the Pods of a plugin: which Deployment, and so which version, they are of. */
export const WORKLOAD_LABEL = 'plugins.tenantry.dev/workload';
/** Where gateways write, and nothing else is: whoever takes one over cannot change what the platform goes by. */
export const GATEWAY_REPORTS_NAMESPACE = 'tenantry-gateways';
/** On ConfigMaps there: what one gateway tells about versions that take over from each other. */
export const GATEWAY_REPORT_LABEL = 'plugins.tenantry.dev/gateway-report';
/** On Secrets there: how gateways reach the Pods of one tenant's plugins in its cluster. */
export const GATEWAY_ACCESS_LABEL = 'plugins.tenantry.dev/gateway-access';
/** In the platform's namespace: the Service by which plugins reach the gateway, and a ConfigMap with its `url` for users. */
export const GATEWAY_NAME = 'plugin-gateway';

/** Where the platform's own settings, keys and secrets are. */
export const PLATFORM_NAMESPACE = 'tenantry-system';
/** A Secret there: how to reach what plugins need. */
export const PLATFORM_SETTINGS = 'plugin-platform';
/** A Secret there: what the PostgreSQL of the platform's own is reached with. */
export const EMBEDDED_POSTGRES = 'plugin-postgres';
/** A Secret there: the keys that sign the tokens of plugins, one private JWK each. The newest signs. */
export const TOKEN_KEYS = 'plugin-token-keys';
/** A ConfigMap there: their public halves, as `jwks.json`. */
export const TOKEN_JWKS = 'plugin-token-jwks';

/** On Secrets of the platform's namespace: an entry of the embedded secret store; the annotation is its path. */
export const STORED_SECRET_LABEL = 'plugins.tenantry.dev/stored-secret';
export const SECRET_PATH_ANNOTATION = 'plugins.tenantry.dev/secret-path';
/** On image pull Secrets of the platform's namespace: the publisher whose plugins may use it. */
export const PULL_SECRET_LABEL = 'plugins.tenantry.dev/pull-secret-of';

/** `<prefix>gateway: "true"` on a namespace of no tenant: there it is what plugins mean by `gateway`. */
export const TARGET_LABEL_PREFIX = 'target.plugins.tenantry.dev/';

/** In the Pods of a plugin. */
export const TOKEN_FOLDER = '/var/run/secrets/tenantry.dev/identity';
export const SECRETS_FOLDER = '/var/run/secrets/tenantry.dev/secrets';
export const DATABASE_FOLDER = '/var/run/secrets/tenantry.dev/database';
export const EVENTS_FOLDER = '/var/run/secrets/tenantry.dev/events';
/** Whom the tokens are for. */
export const TOKEN_AUDIENCE = 'adapstory-plugin-gateway';
export const TOKEN_ISSUER = 'https://tenantry.dev/plugins';
/** Where an API server of ours publishes the keys, for whoever verifies tokens by OpenID Connect. */
export const TOKEN_DISCOVERY_PATH = '/plugins/.well-known/openid-configuration';
export const TOKEN_JWKS_PATH = '/plugins/openid/v1/jwks';
/** All plugins are in this group, and those of a tenant in `<group>:<tenant>`. Their user name is the subject of their tokens. */
export const PLUGINS_GROUP = 'tenantry:plugins';

/** Where a secret of a plugin is, in every backend. */
export function secretPathOf(plugin: string, tenant: string, path: string): string {
  return `adapstory/plugins/${plugin}/${tenant}/${path}`;
}

export function keptFrom(cluster: string): string {
  return `kept-from:${cluster}`;
}

export function subjectOf(plugin: string, tenant: string): string {
  return `plugin:${plugin}:${tenant}`;
}
