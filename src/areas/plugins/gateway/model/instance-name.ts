/** Of what a name may be in Kubernetes, and short enough to have something before it. */
const MOST = 40;

/** What a gateway is called: by its machine, so that people find it, and by chance, because a machine may have two of them. */
export function instanceName(host: string, chance: string): string {
  const readable = host
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MOST)
    .replaceAll(/^-+|-+$/g, '');
  return readable === '' ? chance : `${readable}-${chance}`;
}
