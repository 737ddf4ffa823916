// Plays the node agent in a worker: tells over the network what it sees from the inside.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { hostname, release } from 'node:os';
import { parseArgs } from 'node:util';

const { values: flags } = parseArgs({ options: { join: { type: 'string' }, data: { type: 'string' } } });
const read = (path) => {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    return error.code;
  }
};
const join = JSON.parse(readFileSync(flags.join, 'utf8'));
mkdirSync(flags.data, { recursive: true });

function facts() {
  return {
    hostname: hostname(),
    release: release(),
    version: read('/proc/version'),
    bootId: read('/proc/sys/kernel/random/boot_id'),
    time: Date.now(),
    processes: readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')),
    folders: readdirSync('/'),
    resolver: read('/etc/resolv.conf'),
    join,
    note: read(`${flags.data}/note`),
    imageIsWritable: canWrite('/opt/tenantry/x'),
  };
}

/** What root in a guest sees of where its kernel is a program. */
function outside(path) {
  const at = '/run/outside';
  mkdirSync(at, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'hostfs', '-o', '/', 'none', at]);
  } catch (error) {
    return { mounted: String(error.stderr) };
  }
  const processes = readdirSync(`${at}/proc`).filter((name) => /^\d+$/.test(name));
  return {
    mounted: 'yes',
    folders: readdirSync(at),
    processes: processes.map((pid) => read(`${at}/proc/${pid}/comm`)),
    exists: existsSync(at + path),
  };
}

function canWrite(path) {
  try {
    writeFileSync(path, '');
    return true;
  } catch {
    return false;
  }
}

const ACTIONS = {
  '/facts': (_request, answer) => answer(facts()),
  '/file': ({ query }, answer) => answer({ exists: existsSync(query.get('path')) }),
  '/outside': ({ query }, answer) => answer(outside(query.get('path'))),
  '/note': ({ query }, answer) => {
    writeFileSync(`${flags.data}/note`, query.get('text'), { flush: true });
    answer({});
  },
  '/crash': (_request, answer) => {
    answer({});
    writeFileSync('/proc/sysrq-trigger', 'c');
  },
};

createServer((request, response) => {
  const url = new URL(request.url, 'http://worker');
  const answer = (value) => response.end(JSON.stringify(value));
  ACTIONS[url.pathname]({ query: url.searchParams }, answer);
}).listen(8080, join.address, () => console.log(`the witness listens at ${process.uptime()} s`));
