// How fast Runs are, beside the least that they could cost: `npm run bench -- runs [finished|fair|kubernetes] [options of tenantry up]`.
import { calibrate } from '../api/calibration.ts';
import { benchEmbedded } from './embedded.ts';
import { benchFair } from './fair.ts';
import { benchFinished } from './finished.ts';
import { benchKubernetes } from './kubernetes.ts';

const BENCHES: Record<string, (options: string[]) => Promise<void>> = {
  finished: benchFinished,
  fair: benchFair,
  kubernetes: benchKubernetes,
};

const [name = '', ...options] = process.argv.slice(2);
console.log(calibrate());
if (Object.hasOwn(BENCHES, name)) await BENCHES[name](options);
else await benchEmbedded(process.argv.slice(2));
console.log(calibrate());
process.exit(0);
