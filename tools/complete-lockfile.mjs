// Adds to package-lock.json the optional packages of other platforms that the registry did not show when the lockfile was written.
// Without them `npm ci` calls the lockfile out of sync, on every platform. Their versions are pinned by the packages that want them, and
// where they run is in their names; on a platform that needs none of them nothing more is fetched. Run it after every `npm install`.
import { readFileSync, writeFileSync } from 'node:fs';

const SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];
const PROCESSORS = ['arm64', 'arm', 'ia32', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];

const lockfile = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const { packages } = lockfile;
const added = [];
for (const { optionalDependencies = {}, dev } of Object.values(packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const place = `node_modules/${name}`;
    if (packages[place] !== undefined) continue;
    if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`Cannot lock "${name}": "${version}" is a range; reach a registry that has it`);
    packages[place] = { version, ...platformOf(name), ...(dev ? { dev: true } : {}), optional: true };
    added.push(name);
  }
}
lockfile.packages = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync('package-lock.json', `${JSON.stringify(lockfile, null, 2)}\n`);
console.log(added.length === 0 ? 'package-lock.json is complete' : `added ${added.length} packages of other platforms`);

function platformOf(name) {
  const words = name.slice(name.indexOf('/') + 1).split('-');
  const os = SYSTEMS.filter((system) => words.includes(system));
  const cpu = PROCESSORS.filter((processor) => words.includes(processor));
  if (cpu.length !== 1 || (os.length !== 1 && cpu[0] !== 'wasm32'))
    throw new Error(`Cannot lock "${name}": its name says no platform; add it by hand`);
  const libc = words.some((word) => word.startsWith('musl')) ? ['musl'] : os[0] === 'linux' ? ['glibc'] : undefined;
  return { cpu, ...(os.length === 1 ? { os } : {}), ...(libc ? { libc } : {}) };
}
