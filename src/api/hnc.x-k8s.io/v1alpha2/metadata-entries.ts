import { list, object, text } from '../../schema-source.ts';

/** Labels or annotations that the tree keeps on a namespace. */
export const metadataEntries = list(object({ key: text(), value: text() }, {}));
