import type { Store } from '../../store/store.ts';
import type { Admission } from '../admission/chain.ts';
import type { Authorizer } from '../auth/user.ts';
import type { Catalog } from '../registry/catalog.ts';
import type { ObjectCache } from '../registry/object-cache.ts';
import type { WatchHub } from '../watch/hub.ts';

/** What every verb works with. Made once per server. */
export interface ServerCore {
  store: Store;
  catalog: Catalog;
  cache: ObjectCache;
  hub: WatchHub;
  admission: Admission;
  authorizer: Authorizer;
  now: () => Date;
  newUid: () => string;
  /** Five random characters for generateName. */
  randomSuffix: () => string;
}
