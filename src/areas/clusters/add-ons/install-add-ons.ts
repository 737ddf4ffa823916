import { errorText } from '../../../lib/log.ts';
import { turns } from '../../../lib/turn-queue.ts';
import { isForAddOns, labelled, type AddOn } from './add-on.ts';
import type { TenantConnection } from './tenant-connection.ts';

export interface AddOnProblem {
  addOn: string;
  message: string;
}

export interface Installation {
  problems: AddOnProblem[];
  /** So much was written that the rest is left to the next round. */
  hasMore: boolean;
}

/** Of one round: whoever makes thousands of namespaces waits for them, and is not all that we do. */
const MOST_WRITES = 200;

/** Puts add-ons where they belong; what is there already is not written again. One that fails does not keep the others away. */
export async function installAddOns(
  addOns: readonly AddOn[],
  connection: Pick<TenantConnection, 'apply' | 'namespaces'>,
): Promise<Installation> {
  const namespaces = addOns.some(({ eachNamespace = [] }) => eachNamespace.length > 0)
    ? (await connection.namespaces()).filter(isForAddOns)
    : [];
  const installation: Installation = { problems: [], hasMore: false };
  let written = 0;
  const install = async ({ name, objects, eachNamespace = [] }: AddOn) => {
    const wanted = [
      ...objects.map((object) => labelled(name, object)),
      ...eachNamespace.flatMap((object) => namespaces.map((namespace) => labelled(name, object, namespace))),
    ];
    // In the order of the manifests: what comes first may be what the next needs.
    for (const object of wanted) {
      if (written >= MOST_WRITES) {
        installation.hasMore = true;
        return;
      }
      if (await connection.apply(object)) written++;
      await turns.share();
    }
  };
  await Promise.all(
    addOns.map((addOn) =>
      install(addOn).catch((error: unknown) => installation.problems.push({ addOn: addOn.name, message: errorText(error) })),
    ),
  );
  return installation;
}
