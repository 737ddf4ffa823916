import type { AttemptSource, FollowRefusals, Report } from './attempt-source.ts';
import { apiAttempt, pluginUser } from './model/api-attempt.ts';
import type { PluginOwners } from './plugin-owners.ts';

/** What the API server refused plugins. */
export function apiSource(follow: FollowRefusals, owners: PluginOwners, report: Report): AttemptSource {
  const stop = follow((request) => {
    const user = pluginUser(request.user);
    if (!user) return;
    const asker = 'namespace' in user ? owners.byNamespace(user.namespace) : owners.byName(user.tenant, user.plugin);
    const attempt = apiAttempt(request, asker);
    if (attempt) report(attempt);
  });
  return { stop };
}
