import { Forest } from '../../src/areas/tenancy/forest/forest.ts';

export interface TestNamespace {
  parent?: string;
  labels?: Record<string, string>;
  terminating?: boolean;
}

/** A forest of namespaces, as the stored objects would make it. */
export function treeOf(namespaces: Record<string, TestNamespace>): Forest {
  const forest = new Forest();
  for (const [name, { parent, labels = {}, terminating = false }] of Object.entries(namespaces)) {
    forest.setNamespace(name, { uid: name, labels, annotations: {}, terminating });
    if (parent !== undefined)
      forest.setHierarchy(name, { parent, allowCascadingDeletion: false, labels: [], annotations: [], terminating: false });
  }
  return forest;
}
