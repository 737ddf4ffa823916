import { builtInImage, standardBuiltIns } from '../../../src/engine/node/images/built-in.ts';
import { parseReference } from '../../../src/engine/node/images/model/reference.ts';

/** The machine's own programs. */
export const toolsImage = builtInImage(parseReference('tenantry.dev/tools'), standardBuiltIns('1.0.0', process.execPath, '/nowhere'));
