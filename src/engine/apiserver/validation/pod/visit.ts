import type { Json } from '../../../../kube/object.ts';
import type { Path } from '../path.ts';

/** All containers in Kubernetes' order: init, regular, ephemeral. The path is made when asked for. */
export function visitContainers(spec: Json, at: Path, visit: (container: Json, containerAt: () => Path) => void): void {
  for (const field of ['initContainers', 'containers', 'ephemeralContainers']) {
    const containers: Json[] = spec[field] ?? [];
    for (let i = 0; i < containers.length; i++) visit(containers[i], () => at.child(field).index(i));
  }
}
