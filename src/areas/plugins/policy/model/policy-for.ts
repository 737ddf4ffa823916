import type { PluginPolicy } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-policy.ts';

/**
 * The policy of a tenant that is in force for a plugin: one that names it, else one that names none. Of several the oldest, so that a new
 * object never takes over from one that was there. None: pinned.
 */
export function policyFor(plugin: string, policies: readonly PluginPolicy[]): PluginPolicy | undefined {
  const present = policies.filter(({ metadata }) => metadata.deletionTimestamp === undefined).toSorted(byAge);
  return present.find(({ spec }) => spec.plugins?.includes(plugin)) ?? present.find(({ spec }) => namesNone(spec.plugins));
}

/** Which of the named plugins another policy has before this one; `*` stands for all that no policy names. */
export function takenByOthers(policy: PluginPolicy, policies: readonly PluginPolicy[]): { plugin: string; by: string }[] {
  const { spec, metadata } = policy;
  const names = namesNone(spec.plugins) ? [ALL] : spec.plugins!;
  return names.flatMap((plugin) => {
    const holder =
      plugin === ALL
        ? policies
            .filter((each) => namesNone(each.spec.plugins))
            .toSorted(byAge)
            .at(0)
        : policyFor(plugin, policies);
    return holder === undefined || holder.metadata.name === metadata.name ? [] : [{ plugin, by: holder.metadata.name! }];
  });
}

const ALL = '*';

function namesNone(plugins: readonly string[] | undefined): boolean {
  return plugins === undefined || plugins.length === 0;
}

function byAge({ metadata: a }: PluginPolicy, { metadata: b }: PluginPolicy): number {
  return (a.creationTimestamp ?? '').localeCompare(b.creationTimestamp ?? '') || a.name!.localeCompare(b.name!);
}
