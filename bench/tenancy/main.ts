// How fast a tree of namespaces is: `npm run bench -- tenancy`, or `npm run bench -- tenancy kubernetes` on a real kube-apiserver.
import { calibrate } from '../api/calibration.ts';
import { benchEmbedded } from './embedded.ts';

const [engine, ...options] = process.argv.slice(2);
console.log(calibrate());
if (engine === 'kubernetes') await (await import('./kubernetes.ts')).benchKubernetes();
else await benchEmbedded(engine === undefined ? [] : [engine, ...options]);
console.log(calibrate());
process.exit(0);
