// How fast plugins are: `npm run bench -- plugins install|restart|rollback`. Needs what `tenantry up` needs for real containers.
import { calibrate } from '../api/calibration.ts';
import { benchInstall } from './install.ts';
import { benchRestart } from './restart.ts';
import { benchRollback } from './rollback.ts';

const BENCHES: Record<string, () => Promise<void>> = { install: benchInstall, restart: benchRestart, rollback: benchRollback };
const wanted = process.argv[2];
const names = wanted === undefined ? Object.keys(BENCHES) : [wanted];
if (!names.every((name) => name in BENCHES))
  throw new Error(`Cannot measure "${wanted}": choose one of ${Object.keys(BENCHES).join(', ')}`);
for (const name of names) {
  console.log(calibrate());
  await BENCHES[name]();
}
console.log(calibrate());
process.exit(0);
