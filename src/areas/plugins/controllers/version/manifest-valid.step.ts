import { checkManifest } from '../../../../api/adapstory.com/v1/check-manifest.ts';
import { RELATIVE_PATH } from '../../../../api/adapstory.com/v1/plugin-manifest.ts';
import { pluginVersionName, type PluginVersion } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { VersionReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/version-reasons.ts';
import { done, stalled } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { VersionCondition } from './version-conditions.ts';

const SHOWN = 5;
const FILE_PATH = new RegExp(RELATIVE_PATH);

/** The manifest is one, and the object says of itself what the manifest says. */
export function manifestValid(): Step<PluginVersion> {
  return {
    name: VersionCondition.ManifestValid,
    run(version) {
      const findings = checkManifest(version.spec.manifest);
      if (findings.length > 0) {
        const shown = findings.slice(0, SHOWN).map(({ path, message }) => `${path.join('.')}: ${message}`);
        const rest = findings.length > SHOWN ? `; and ${findings.length - SHOWN} more` : '';
        return stalled(VersionReason.ManifestInvalid, `${shown.join('; ')}${rest}`);
      }
      const problem = mismatch(version) ?? fileProblem(version);
      return problem === undefined ? done('Valid') : stalled(VersionReason.ManifestInvalid, problem);
    },
  };
}

/** Names of files become paths on the machines of those who export a plugin, and migrations are found by them. */
function fileProblem({ spec }: PluginVersion): string | undefined {
  const wrong = Object.keys(spec.files ?? {}).find((path) => path.length > 255 || !FILE_PATH.test(path));
  return wrong === undefined ? undefined : `spec.files: "${wrong.slice(0, 100)}" is no path inside the folder of the manifest`;
}

/** Who reads the spec must not be told something else than who reads the manifest, or the name. */
function mismatch({ metadata, spec }: PluginVersion): string | undefined {
  const { name, version, publisher } = spec.manifest.metadata;
  const said = { publisher, plugin: name, version };
  for (const field of ['publisher', 'plugin', 'version'] as const) {
    if (spec[field] !== said[field]) return `spec.${field} is "${spec[field]}", but the manifest says "${said[field]}"`;
  }
  const wanted = pluginVersionName(publisher, name, version);
  return metadata.name === wanted ? undefined : `its name must be "${wanted}"; publish it with \`tenantry plugin publish\``;
}
