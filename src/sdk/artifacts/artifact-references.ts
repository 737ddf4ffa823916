import type { ArtifactReference, Run } from '../../api/kruntimes.io/v1alpha1/run.ts';
import type { ArtifactInfo } from '../runs-api.ts';

export function artifactInfo({ name, type, sizeBytes, contentType, digest }: ArtifactReference): ArtifactInfo {
  return { name, type, sizeBytes, ...(contentType ? { contentType } : {}), ...(digest ? { digest } : {}) };
}

export function artifactNamed(run: Run, name: string): ArtifactReference {
  const all = run.status?.artifactRefs ?? [];
  const found = all.find((reference) => reference.name === name);
  if (found !== undefined) return found;
  const known = all.length === 0 ? 'it has none' : `it has ${all.map((reference) => `"${reference.name}"`).join(', ')}`;
  throw new Error(`Cannot find artifact "${name}" of Run "${run.metadata.name}": ${known}; name one that \`krt artifact list\` shows`);
}
