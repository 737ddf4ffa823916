/** What a URL of the gateway is about: `/<tenant>/<plugin>/<path of the plugin>`. */
export interface PluginPath {
  tenant: string;
  plugin: string;
  /** `/<tenant>/<plugin>`, which the plugin does not see. */
  prefix: string;
  /** Query included, as it came. */
  path: string;
}

/** Names of tenants and plugins are DNS labels: whatever else stands there, such as an escape, names none of them. */
const NAME = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?';
const PATH = new RegExp(`^(/(${NAME})/(${NAME}))(?:(/.*)|(\\?.*))?$`);

export function pluginPath(url: string): PluginPath | undefined {
  const match = PATH.exec(url);
  if (!match) return undefined;
  const [, prefix, tenant, plugin, path, query] = match;
  return { tenant, plugin, prefix, path: path ?? `/${query ?? ''}` };
}
