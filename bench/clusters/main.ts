// What tenant clusters cost: `npm run bench -- clusters vpcs` measures their networks. Each prints its bars.
const [what = 'vpcs'] = process.argv.slice(2);
if (what === 'vpcs') await (await import('./vpcs.ts')).benchVpcs();
else {
  console.error(`Cannot measure "${what}": there is vpcs; name it`);
  process.exitCode = 2;
}
