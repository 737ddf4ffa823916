import { errorText } from '../../../lib/log.ts';
import { isForAddOns, labelled, type AddOn } from './add-on.ts';
import type { TenantConnection } from './tenant-connection.ts';

export interface AddOnProblem {
  addOn: string;
  message: string;
}

/** Puts add-ons where they belong; what is there already is not written again. One that fails does not keep the others away. */
export async function installAddOns(
  addOns: readonly AddOn[],
  connection: Pick<TenantConnection, 'apply' | 'namespaces'>,
): Promise<AddOnProblem[]> {
  const namespaces = addOns.some(({ eachNamespace = [] }) => eachNamespace.length > 0)
    ? (await connection.namespaces()).filter(isForAddOns)
    : [];
  const problems = await Promise.all(
    addOns.map(async ({ name, objects, eachNamespace = [] }): Promise<AddOnProblem[]> => {
      const wanted = [
        ...objects.map((object) => labelled(name, object)),
        ...eachNamespace.flatMap((object) => namespaces.map((namespace) => labelled(name, object, namespace))),
      ];
      try {
        // In the order of the manifests: what comes first may be what the next needs.
        for (const object of wanted) await connection.apply(object);
        return [];
      } catch (error) {
        return [{ addOn: name, message: errorText(error) }];
      }
    }),
  );
  return problems.flat();
}
