import { ConfigMap } from '../../../client/kinds.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import type { AddOn } from '../add-ons/add-on.ts';
import { BUILT_IN_ADD_ONS } from '../add-ons/built-in-add-ons.ts';
import { configMapAddOn } from '../add-ons/config-map-add-on.ts';
import type { AddOnOffer } from '../policy/model/bounds.ts';

/** What the add-ons of policies are made of: those that come with Tenantry, and manifests in ConfigMaps of the operator. */
export class AddOnCatalog {
  readonly #informers: SharedInformers;
  readonly #onChange: () => void;
  readonly #watched = new Set<string>();

  constructor(informers: SharedInformers, onChange: () => void) {
    this.#informers = informers;
    this.#onChange = onChange;
  }

  /** @returns undefined when there is none of that name. @throws Error when its manifests cannot be read */
  async find({ name, configMap }: AddOnOffer): Promise<AddOn | undefined> {
    if (configMap === undefined) return BUILT_IN_ADD_ONS.find((addOn) => addOn.name === name);
    const { namespace } = configMap;
    const informer = this.#informers.get(ConfigMap, { namespace, fieldSelector: `metadata.name=${configMap.name}` });
    await informer.whenSynced();
    const id = `${namespace}/${configMap.name}`;
    if (!this.#watched.has(id)) {
      this.#watched.add(id);
      informer.onChange(this.#onChange);
    }
    const found = informer.get(id);
    if (found === undefined) throw new Error(`there is no ConfigMap "${configMap.name}" in namespace "${namespace}"`);
    return configMapAddOn(name, found.data ?? {});
  }
}
