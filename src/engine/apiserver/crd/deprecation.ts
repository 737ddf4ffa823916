import { compareVersions } from './version-order.ts';
import type { CustomResourceDefinition, DefinitionVersion } from './definition.ts';

/** The Warning that every answer in a deprecated version carries. */
export function deprecationNotice(definition: CustomResourceDefinition, version: DefinitionVersion): string | undefined {
  if (!version.deprecated) return undefined;
  if (version.deprecationWarning !== undefined && version.deprecationWarning !== null) return version.deprecationWarning;
  const { group, names, versions } = definition.spec;
  const notice = `${group}/${version.name} ${names.kind} is deprecated`;
  const newer = versions
    .filter((candidate) => candidate.served && !candidate.deprecated && compareVersions(version.name, candidate.name) < 0)
    .map((candidate) => candidate.name)
    .sort((left, right) => compareVersions(right, left));
  return newer.length === 0 ? notice : `${notice}; use ${group}/${newer[0]} ${names.kind}`;
}
