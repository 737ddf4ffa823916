// Checks every import in src against boundaries.json, and that src/main is imported by nobody.
import { readFileSync, readdirSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, normalize } from 'node:path';

const { folders } = JSON.parse(readFileSync('boundaries.json', 'utf8'));
const names = Object.keys(folders).sort((a, b) => b.length - a.length);
const folderOf = (file) => names.find((name) => file === name || file.startsWith(`${name}/`));
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^'"]*?from\s+['"]([^'"]+)['"]|(?:^|[^.\w])import\(\s*['"]([^'"]+)['"]\s*\)|(?:^|\n)\s*import\s+['"]([^'"]+)['"]/g;

const findings = [];
for (const entry of readdirSync('src', { recursive: true })) {
  const file = join('src', entry);
  if (!file.endsWith('.ts')) continue;
  const isTest = file.endsWith('.test.ts');
  const folder = folderOf(file);
  if (!folder) {
    findings.push(`${file}: no row in boundaries.json covers this file`);
    continue;
  }
  const rule = folders[folder];
  for (const match of readFileSync(file, 'utf8').matchAll(IMPORT)) {
    const target = match[1] ?? match[2] ?? match[3];
    if (target.startsWith('.')) {
      const path = normalize(join(dirname(file), target));
      if (!path.startsWith('src/')) {
        if (!isTest) findings.push(`${file}: imports ${path}, which is outside src`);
        continue;
      }
      const other = folderOf(path);
      // Tests may reach for the real thing instead of a fake.
      if (isTest && path.startsWith('src/')) continue;
      if (other === folder || rule.may.some((allowed) => path === allowed || path.startsWith(`${allowed}/`))) continue;
      findings.push(`${file}: ${folder} may not import ${other ?? path}`);
    } else if (target.startsWith('node:') || builtinModules.includes(target)) {
      if (rule.node === false && !isTest) findings.push(`${file}: ${folder} is pure and may not import ${target}`);
    } else {
      const parts = target.split('/');
      const name = target.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0];
      if (isTest) continue;
      if (!rule.npm.includes(name)) findings.push(`${file}: ${folder} may not use the package ${name}`);
    }
  }
}
if (findings.length > 0) {
  console.error(findings.join('\n'));
  console.error(`${findings.length} imports break boundaries.json`);
  process.exit(1);
}
