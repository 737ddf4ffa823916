// How fast Runs are, beside the least that they could cost: `npm run bench -- runs`.
import { calibrate } from '../api/calibration.ts';
import { benchEmbedded } from './embedded.ts';

console.log(calibrate());
await benchEmbedded(process.argv.slice(2));
console.log(calibrate());
process.exit(0);
