// What a node costs: `npm run bench -- node` measures Pods; `npm run bench -- node network` the network. Each prints its bars.
const [what = 'pods', ...rest] = process.argv.slice(2);
if (what === 'pods') await (await import('./pods.ts')).benchPods(rest);
else if (what === 'network') await (await import('./network.ts')).benchNetwork();
else {
  console.error(`Cannot measure "${what}": there are pods and network; name one of them`);
  process.exitCode = 2;
}
