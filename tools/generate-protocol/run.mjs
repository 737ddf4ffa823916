// Makes src/areas/runs/protocol/generated from the .proto files beside it. The generator is fetched for the occasion: it is far larger than what it makes.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const protocol = resolve('src/areas/runs/protocol');
const folder = mkdtempSync(join(tmpdir(), 'tenantry-protocol-'));
const run = (command, args) => {
  if (spawnSync(command, args, { cwd: folder, stdio: 'inherit' }).status !== 0) throw new Error(`${command} failed; see above`);
};
for (const file of readdirSync(protocol)) if (file.endsWith('.proto')) cpSync(join(protocol, file), join(folder, 'proto', file));
writeFileSync(join(folder, 'package.json'), '{}');
writeFileSync(
  join(folder, 'buf.gen.yaml'),
  'version: v2\nplugins:\n  - local: node_modules/.bin/protoc-gen-es\n    out: generated\n    opt: [target=js+dts]\n',
);
run('npm', ['install', '--no-audit', '--no-fund', '@bufbuild/buf@1.74.0', '@bufbuild/protoc-gen-es@2.13.0']);
run(join('node_modules', '.bin', 'buf'), ['generate', 'proto']);
cpSync(join(folder, 'generated'), join(protocol, 'generated'), { recursive: true });
rmSync(folder, { recursive: true });
